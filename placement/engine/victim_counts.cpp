// Nodes become rows of the amounts that the shape needs, units become the rows they give back.
#include "placement/engine/victim_counts.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

#include "base/ensure.hpp"

namespace tutti::placement::engine {
namespace {

/// Above this a double does not hold every integer.
constexpr std::int64_t exact_in_double = std::int64_t{1} << 52;

std::int64_t collisions(const base::port_list& taken, const base::port_list& wanted) {
  return std::count_if(taken.begin(), taken.end(), [&](const base::host_port& x) {
    return std::any_of(wanted.begin(), wanted.end(),
                       [&](const base::host_port& y) { return base::collide(x, y); });
  });
}

} // namespace

bool is_counted(const problem& gang) {
  return gang.units.size() == 1 && !gang.ties
         && std::all_of(gang.lots.begin(), gang.lots.end(),
                        [&](const lot& l) { return l.shape == gang.lots.front().shape; });
}

victim_counts::victim_counts(const victim_question& q, const snapshot& base) {
  ensure(is_counted(q.gang), q.gang.units.size());
  const auto& use = q.gang.shapes[q.gang.lots.front().shape];
  width_ = use.needs.size() + 1;
  for (const auto& n : use.needs) {
    needs_.push_back(n.amount);
    one_by_need_.push_back(1.0 / static_cast<double>(n.amount));
  }
  ports_ = use.memory->view.kind().takes.ports;
  gone_.assign(q.how.units.size(), false);
  read_nodes(q, base);
  read_units(q, base, *q.memory.places(base));
  index_parts(q);
  for (const auto u : q.eligible)
    remove(u);
  emptied_ = total_;
  emptied_slots_ = slots_;
  for (const auto u : q.eligible)
    put_back(u);
}

void victim_counts::read_nodes(const victim_question& q, const snapshot& base) {
  const auto& u = q.gang.units.front();
  const auto& use = q.gang.shapes[q.gang.lots.front().shape];
  const auto all = q.memory.places(base);
  const auto key = u.key.empty() ? nullptr : q.memory.key(base, u.key);
  total_.assign(key ? key->domains() : 1, 0);
  domain_of_.assign(all->places, no_domain);
  free_.assign(all->places * width_, 0);
  slots_.assign(all->places, 0);
  for (const auto number : base.index->in_order) {
    const auto& b = *base.blocks[number];
    const auto first = all->first[number];
    for (const auto slot : b.by_name) {
      const auto place = first + slot;
      const auto domain = key ? key->of_place[place] : 0;
      if (domain == no_domain || (u.pinned && key && key->names[domain] != *u.pinned)
          || !use.memory->view.allows(base, b, slot))
        continue;
      domain_of_[place] = domain;
      auto* mine = free_.data() + place * width_;
      for (std::size_t k = 0; k + 1 < width_; ++k) {
        const auto d = use.needs[k].what;
        mine[k] = d < b.free.size() ? b.free[d][slot] : 0;
      }
      if (!ports_.empty())
        mine[width_ - 1] = collisions(b.ports[slot], ports_);
      slots_[place] = slots(free(place));
      total_[domain] += slots_[place];
    }
  }
}

/// The pods of a unit node by node; most units are on few.
void victim_counts::read_units(const victim_question& q, const snapshot& base,
                               const place_map& all) {
  const auto& use = q.gang.shapes[q.gang.lots.front().shape];
  const base::footprint* last = nullptr; // pods are mostly like the one before
  std::vector<std::int64_t> row(width_, 0);
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pods; // place, row
  first_part_.assign(q.how.units.size() + 1, 0);
  std::size_t next = 0;
  for (std::uint32_t u = 0; u < q.how.units.size(); ++u) {
    first_part_[u] = static_cast<std::uint32_t>(parts_.size());
    if (next == q.eligible.size() || q.eligible[next] != u)
      continue;
    ++next;
    pods.clear();
    for (const auto& pod : q.how.units[u].pods) {
      const auto place = all.of(pod.node);
      if (domain_of_[place] == no_domain)
        continue;
      if (!last || !(*last == pod.takes)) {
        last = &pod.takes;
        for (std::size_t k = 0; k + 1 < width_; ++k)
          row[k] = amount_of(base, pod.takes.amounts, use.needs[k].what);
        row[width_ - 1] = ports_.empty() ? 0 : -collisions(pod.takes.ports, ports_);
      }
      pods.emplace_back(place, add_row(row));
    }
    if (!std::is_sorted(pods.begin(), pods.end()))
      std::sort(pods.begin(), pods.end());
    for (const auto& [place, number] : pods) {
      if (parts_.size() == first_part_[u] || parts_.back().place != place) {
        parts_.push_back({u, place, 1, number});
        continue;
      }
      std::vector<std::int64_t> sum(this->row(parts_.back().row).begin(),
                                    this->row(parts_.back().row).end());
      for (std::size_t k = 0; k < width_; ++k)
        sum[k] += this->row(number)[k];
      parts_.back().row = add_row(sum);
      ++parts_.back().pods;
    }
  }
  first_part_.back() = static_cast<std::uint32_t>(parts_.size());
}

/// Equal neighbours share a row.
std::uint32_t victim_counts::add_row(std::span<const std::int64_t> x) {
  const auto count = rows_.size() / width_;
  if (count > 0
      && std::equal(x.begin(), x.end(), rows_.end() - static_cast<std::ptrdiff_t>(width_)))
    return static_cast<std::uint32_t>(count - 1);
  rows_.insert(rows_.end(), x.begin(), x.end());
  return static_cast<std::uint32_t>(count);
}

void victim_counts::index_parts(const victim_question& q) {
  first_on_.assign(domain_of_.size() + 1, 0);
  for (const auto& p : parts_)
    ++first_on_[p.place + 1];
  std::partial_sum(first_on_.begin(), first_on_.end(), first_on_.begin());
  auto next = first_on_;
  on_place_.resize(parts_.size());
  for (std::uint32_t i = 0; i < parts_.size(); ++i)
    on_place_[next[parts_[i].place]++] = i;
  places_.resize(total_.size());
  for (std::uint32_t place = 0; place < domain_of_.size(); ++place) {
    const auto from = on_place_.begin() + first_on_[place];
    const auto to = on_place_.begin() + first_on_[place + 1];
    if (from == to)
      continue;
    places_[domain_of_[place]].push_back(place);
    std::stable_sort(from, to, [&](std::uint32_t a, std::uint32_t b) {
      const auto by_cost = compare(q.book.alone(parts_[a].unit), q.book.alone(parts_[b].unit));
      return by_cost != 0
                 ? by_cost < 0
                 : std::ranges::lexicographical_compare(row(parts_[b].row), row(parts_[a].row));
    });
  }
}

std::int64_t victim_counts::slots(std::span<const std::int64_t> free) const {
  if (free[width_ - 1] > 0)
    return 0;
  auto least = ports_.empty() ? std::int64_t{most_slots} : std::int64_t{1};
  for (std::size_t k = 0; k + 1 < width_; ++k) {
    const auto have = free[k];
    if (have < needs_[k])
      return 0;
    if (needs_[k] == 1) {
      least = std::min(least, have);
      continue;
    }
    if (have >= exact_in_double) {
      least = std::min(least, have / needs_[k]);
      continue;
    }
    auto q = static_cast<std::int64_t>(static_cast<double>(have) * one_by_need_[k]);
    q -= static_cast<std::int64_t>(q * needs_[k] > have);
    q += static_cast<std::int64_t>((q + 1) * needs_[k] <= have);
    least = std::min(least, q);
  }
  return least;
}

void victim_counts::change(std::uint32_t unit, std::int64_t sign) {
  ensure(gone_[unit] == (sign < 0), unit);
  gone_[unit] = sign > 0;
  for (const auto& p : parts_of(unit)) {
    auto* mine = free_.data() + p.place * width_;
    const auto given = row(p.row);
    for (std::size_t k = 0; k < width_; ++k)
      mine[k] += sign * given[k];
    const auto before = slots_[p.place];
    slots_[p.place] = slots(free(p.place));
    total_[domain_of_[p.place]] += slots_[p.place] - before;
  }
}

} // namespace tutti::placement::engine
