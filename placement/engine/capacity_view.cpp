// Blocks are shared with the snapshots given out: each is copied when it is changed, not before.
#include "placement/engine/capacity_view.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/ensure.hpp"

namespace tutti::placement::engine {
namespace {

/// The object itself if nobody else holds it, else a copy that takes its place.
template <class T>
T& own(std::shared_ptr<const T>& x) {
  if (x.use_count() != 1)
    x = std::make_shared<T>(*x);
  else
    std::atomic_thread_fence(std::memory_order_acquire); // behind the last other holder's reads
  // Every one of these objects is made by make_shared<T>, never as a const object.
  return const_cast<T&>(*x);
}

bool grew(const base::resources& before, const base::resources& after) {
  if (after.cpu_milli > before.cpu_milli || after.memory_bytes > before.memory_bytes
      || after.ephemeral_bytes > before.ephemeral_bytes || after.pods > before.pods)
    return true;
  return std::any_of(after.extended.begin(), after.extended.end(),
                     [&](const auto& x) { return x.amount > before.of(x.name); });
}

bool lost_a_port(const base::port_list& before, const base::port_list& after) {
  return std::any_of(before.begin(), before.end(), [&](const base::host_port& x) {
    return std::find(after.begin(), after.end(), x) == after.end();
  });
}

/// Whether a change of class may let a pod in that was kept out: other labels, or fewer taints.
bool may_admit(const api::class_terms* before, const api::class_terms* after) {
  if (!after)
    return false;
  if (!before || before->labels != after->labels
      || (before->unschedulable && !after->unschedulable))
    return true;
  return std::any_of(before->taints.begin(), before->taints.end(), [&](const api::taint& x) {
    return std::find(after->taints.begin(), after->taints.end(), x) == after->taints.end();
  });
}

bool is_soft(const class_entry& x) {
  return x.terms && std::any_of(x.terms->taints.begin(), x.terms->taints.end(), [](const auto& t) {
           return t.effect == api::taint_effect::prefer_no_schedule;
         });
}

/// One summary of columns: `free` or `allocatable` of a block.
struct summed_columns {
  std::vector<column>& values;
  std::vector<std::int64_t>& most;
  std::vector<std::int64_t>& least;
};
summed_columns free_columns(block& b) {
  return {b.free, b.most_free, b.least_free};
}
summed_columns allocatable_columns(block& b) {
  return {b.allocatable, b.most_allocatable, b.least_allocatable};
}

void summarise(const block& b, summed_columns& x, std::size_t d) {
  const auto& values = x.values[d];
  x.most[d] = x.least[d] = b.by_name.empty() ? 0 : values[b.by_name.front()];
  for (auto slot : b.by_name) {
    x.most[d] = std::max(x.most[d], values[slot]);
    x.least[d] = std::min(x.least[d], values[slot]);
  }
}

/// Writes one node's amounts, and the summaries where they change by it.
void set_row(const block& b, summed_columns x, std::uint32_t slot, const amounts& row) {
  for (std::size_t d = 0; d < std::max(row.size(), x.values.size()); ++d) {
    const auto value = d < row.size() ? row[d] : 0;
    if (d >= x.values.size()) {
      x.values.emplace_back(b.size(), 0);
      x.most.push_back(0);
      x.least.push_back(0);
    }
    const auto old = std::exchange(x.values[d][slot], value);
    // A node that came or went with a zero moves the summary, too.
    if (old != value || old == 0)
      summarise(b, x, d);
  }
}

void find_only_class(block& b) {
  b.only_class = no_class;
  for (auto slot : b.by_name) {
    const auto kind = b.classes[slot];
    if (b.only_class == no_class)
      b.only_class = kind;
    else if (b.only_class != kind)
      b.only_class = many_classes;
  }
}

} // namespace

capacity_view::capacity_view(std::vector<std::string> levels) {
  static std::atomic<std::uint64_t> lives{0};
  state_.view_life = ++lives;
  state_.levels = std::move(levels);
  auto classes = std::make_shared<std::vector<class_entry>>();
  classes->push_back({{}, nullptr, 1}); // no_class
  state_.classes = std::move(classes);
}

bool capacity_view::upsert(const node_state& x) {
  ensure(x.info && x.kind, x.info ? x.info->name.value : std::string{"?"});
  auto pos = nodes_.find(x.info->uid);
  if (pos == nodes_.end()) {
    const auto at = insert(x.info, class_number(x.kind));
    pos = nodes_.emplace(x.info->uid, record{at, x.free, x.ports, {}, {}, {}}).first;
    names_.insert_or_assign(x.info->name, x.info->uid);
    write_allocatable(at, x.allocatable);
    write_free(pos->second);
    replace_pods(pos->second, x.pods);
    return true;
  }
  const bool facts_help = replace_facts(pos->second, x);
  return set_free(x.info->uid, x.free, x.ports, x.pods) || facts_help;
}

bool capacity_view::replace_facts(record& known, const node_state& x) {
  const auto& b = state_.at(known.at);
  const auto before = state_.node(known.at);
  const auto old_kind = b.classes[known.at.slot];
  const auto old_terms = (*state_.classes)[old_kind].terms;
  const bool is_larger = grew(allocatable_of(state_, known.at), x.allocatable);
  if (before.name != x.info->name) {
    if (auto name = names_.find(before.name); name != names_.end() && name->second == before.uid)
      names_.erase(name);
    names_.insert_or_assign(x.info->name, x.info->uid);
  }
  const auto kind = class_number(x.kind);
  // The name decides the place in `by_name`, the path decides the block: then it moves.
  const bool moves = b.path != path_of(*x.info, kind) || before.name != x.info->name;
  if (moves) {
    vacate(known.at);
    known.at = insert(x.info, kind);
    write_tied(known);
  } else {
    drop_class(old_kind);
    auto& mine = writable(known.at.block);
    mine.nodes[known.at.slot] = x.info;
    mine.classes[known.at.slot] = kind;
    find_only_class(mine);
    mine.layout_version = mine.version;
    ++state_.layout_version;
  }
  write_allocatable(known.at, x.allocatable);
  return moves || is_larger || may_admit(old_terms.get(), (*state_.classes)[kind].terms.get());
}

bool capacity_view::set_free(const base::node_uid& node, const base::resources& free,
                             const base::port_list& ports,
                             const std::vector<base::tied_pods>& pods) {
  auto pos = nodes_.find(node);
  if (pos == nodes_.end())
    return false;
  auto& known = pos->second;
  const bool helps = grew(known.free, free) || lost_a_port(known.ports, ports);
  known.free = free;
  known.ports = ports;
  write_free(known);
  return replace_pods(known, pods) || helps;
}

void capacity_view::remove(const base::node_uid& node) {
  auto pos = nodes_.find(node);
  if (pos == nodes_.end())
    return;
  const auto name = state_.node(pos->second.at).name;
  if (auto known = names_.find(name); known != names_.end() && known->second == node)
    names_.erase(known);
  vacate(pos->second.at);
  tied_.close(pos->second.pods.get());
  tied_.close(pos->second.combined.get());
  nodes_.erase(pos);
  ++state_.version;
  follow_book();
}

void capacity_view::set_space(const std::string& space,
                              const std::optional<api::string_map>& labels) {
  const auto* known = state_.labels_of_space(space);
  if (labels ? known && *known == *labels : !known)
    return;
  auto fresh = state_.spaces ? *state_.spaces : space_table{};
  if (labels)
    fresh.insert_or_assign(space, *labels);
  else
    fresh.erase(space);
  state_.spaces = std::make_shared<const space_table>(std::move(fresh));
  ++state_.spaces_version;
  ++state_.version;
}

std::optional<node_ref> capacity_view::find(const base::node_uid& node) const {
  auto pos = nodes_.find(node);
  return pos == nodes_.end() ? std::nullopt : std::optional{pos->second.at};
}

std::optional<node_ref> capacity_view::find(const base::node_name& node) const {
  auto pos = names_.find(node);
  return pos == names_.end() ? std::nullopt : find(pos->second);
}

void capacity_view::mark(const base::attempt_id& attempt, const std::vector<marked_seat>& seats) {
  auto& where = marks_[attempt];
  std::vector<base::node_uid> touched;
  for (const auto& s : seats) {
    auto pos = nodes_.find(s.node);
    if (pos == nodes_.end())
      continue;
    auto& added = pos->second.marks.emplace_back();
    added.attempt = attempt;
    added.takes = s.takes;
    added.ties = s.ties;
    touched.push_back(s.node);
  }
  std::sort(touched.begin(), touched.end());
  touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
  for (const auto& node : touched) {
    auto& known = nodes_.find(node)->second;
    write_free(known);
    write_tied(known);
  }
  where.insert(where.end(), touched.begin(), touched.end());
  if (where.empty())
    marks_.erase(attempt);
}

std::size_t capacity_view::unmark(const base::attempt_id& attempt,
                                  const std::function<bool(const node_info&)>& here) {
  auto pos = marks_.find(attempt);
  if (pos == marks_.end())
    return 0;
  std::size_t freed = 0;
  std::erase_if(pos->second, [&](const base::node_uid& node) {
    auto known = nodes_.find(node);
    if (known == nodes_.end())
      return true; // gone, and its marks with it
    if (!here(state_.node(known->second.at)))
      return false;
    freed +=
        std::erase_if(known->second.marks, [&](const held_mark& x) { return x.attempt == attempt; })
        > 0;
    if (known->second.marks.empty())
      // Most nodes are marked rarely: the room for marks goes, too. (To assign `{}` would keep it.)
      known->second.marks = std::vector<held_mark>{};
    write_free(known->second);
    write_tied(known->second);
    return true;
  });
  if (pos->second.empty())
    marks_.erase(pos);
  return freed;
}

std::size_t capacity_view::unmark(const base::attempt_id& attempt) {
  return unmark(attempt, [](const node_info&) { return true; });
}

std::vector<base::node_uid> capacity_view::marked_nodes(const base::attempt_id& attempt) const {
  auto pos = marks_.find(attempt);
  return pos == marks_.end() ? std::vector<base::node_uid>{} : pos->second;
}

block& capacity_view::writable(std::uint32_t number) {
  ensure(number < state_.blocks.size(), number);
  auto& mine = own(state_.blocks[number]);
  mine.version = ++last_block_version_;
  ++state_.version;
  return mine;
}

std::vector<class_entry>& capacity_view::writable_classes() {
  return own(state_.classes);
}

std::uint32_t capacity_view::class_number(const base::node_class_ptr& kind) {
  auto& classes = writable_classes();
  auto [pos, is_new] = class_numbers_.try_emplace(kind->id.value, 0);
  if (is_new) {
    auto decoded = api::decode_class(kind->blob);
    class_entry entry{kind->id, nullptr, 0};
    if (decoded)
      entry.terms = std::make_shared<const api::class_terms>(std::move(*decoded));
    state_.soft_classes += static_cast<std::uint32_t>(is_soft(entry));
    auto unused = std::find_if(classes.begin() + 1, classes.end(),
                               [](const class_entry& x) { return x.nodes == 0; });
    pos->second = static_cast<std::uint32_t>(unused - classes.begin());
    if (unused == classes.end())
      classes.push_back(std::move(entry));
    else
      *unused = std::move(entry);
  }
  ++classes[pos->second].nodes;
  return pos->second;
}

void capacity_view::drop_class(std::uint32_t number) {
  auto& entry = writable_classes()[number];
  ensure(number != no_class && entry.nodes > 0, number, entry.nodes);
  if (--entry.nodes > 0)
    return;
  class_numbers_.erase(entry.id.value);
  state_.soft_classes -= static_cast<std::uint32_t>(is_soft(entry));
}

std::uint32_t capacity_view::block_with_room(const topology_path& path) {
  auto& of_path = blocks_by_path_[path];
  for (auto number : of_path)
    if (state_.blocks[number]->by_name.size() < block_nodes_max)
      return number;
  const auto number = static_cast<std::uint32_t>(state_.blocks.size());
  auto fresh = std::make_shared<block>();
  fresh->path = path;
  fresh->free.resize(first_extended);
  fresh->allocatable.resize(first_extended);
  fresh->most_free.resize(first_extended);
  fresh->least_free.resize(first_extended);
  fresh->most_allocatable.resize(first_extended);
  fresh->least_allocatable.resize(first_extended);
  state_.blocks.push_back(std::move(fresh));
  of_path.push_back(number);
  index_is_stale_ = true;
  return number;
}

void capacity_view::rebuild_index() {
  auto fresh = std::make_shared<block_index>();
  fresh->domains.resize(state_.levels.size());
  std::vector<std::map<std::string, std::vector<std::uint32_t>>> by_value(state_.levels.size());
  for (const auto& [path, numbers] : blocks_by_path_) {
    fresh->in_order.insert(fresh->in_order.end(), numbers.begin(), numbers.end());
    for (std::size_t level = 0; level < by_value.size() && level < path.size(); ++level)
      if (path[level]) {
        auto& blocks = by_value[level][*path[level]];
        blocks.insert(blocks.end(), numbers.begin(), numbers.end());
      }
  }
  for (std::size_t level = 0; level < by_value.size(); ++level)
    for (auto& [name, blocks] : by_value[level])
      fresh->domains[level].push_back({name, std::move(blocks)});
  state_.index = std::move(fresh);
  index_is_stale_ = false;
}

amounts capacity_view::flat(const base::resources& x) {
  amounts out{x.cpu_milli, x.memory_bytes, x.ephemeral_bytes, x.pods};
  for (const auto& e : x.extended) {
    const auto d = dimension_of(state_, e.name);
    if (d == state_.dimensions())
      state_.extended.push_back(e.name);
    if (out.size() <= d)
      out.resize(d + 1, 0);
    out[d] = e.amount;
  }
  return out;
}

/// Labels are looked at only where the value alone does not tell whether there is one.
topology_path capacity_view::path_of(const node_info& info, std::uint32_t kind) const {
  const auto* terms = (*state_.classes)[kind].terms.get();
  topology_path out;
  for (std::size_t i = 0; i < info.domains.size(); ++i) {
    const bool has_value = !info.domains[i].empty()
                           || (terms && i < state_.levels.size()
                               && api::label_of(*terms, info.host_name, state_.levels[i]).has);
    out.push_back(has_value ? std::optional{info.domains[i]} : std::nullopt);
  }
  return out;
}

node_ref capacity_view::insert(const node_info_ptr& info, std::uint32_t kind) {
  const auto number = block_with_room(path_of(*info, kind));
  auto& mine = writable(number);
  auto hole = std::find(mine.nodes.begin(), mine.nodes.end(), nullptr);
  const auto slot = static_cast<std::uint32_t>(hole - mine.nodes.begin());
  if (hole == mine.nodes.end()) {
    mine.nodes.emplace_back();
    mine.classes.push_back(no_class);
    mine.ports.emplace_back();
    if (!mine.tied.empty())
      mine.tied.emplace_back();
    for (auto& c : mine.free)
      c.push_back(0);
    for (auto& c : mine.allocatable)
      c.push_back(0);
  }
  mine.nodes[slot] = info;
  mine.classes[slot] = kind;
  auto place = std::lower_bound(
      mine.by_name.begin(), mine.by_name.end(), info->name,
      [&](std::uint16_t a, const base::node_name& name) { return mine.nodes[a]->name < name; });
  mine.by_name.insert(place, static_cast<std::uint16_t>(slot));
  find_only_class(mine);
  mine.layout_version = mine.version;
  ++state_.layout_version;
  ++state_.nodes;
  ensure(mine.by_name.size() <= block_nodes_max, mine.by_name.size());
  return {number, slot};
}

void capacity_view::vacate(node_ref at) {
  auto& mine = writable(at.block);
  drop_class(mine.classes[at.slot]);
  mine.by_name.erase(std::find(mine.by_name.begin(), mine.by_name.end(), at.slot));
  mine.nodes[at.slot] = nullptr;
  mine.classes[at.slot] = no_class;
  mine.ports[at.slot].clear();
  if (!mine.tied.empty() && mine.tied[at.slot]) {
    mine.tied[at.slot] = nullptr;
    mine.tied_version = mine.version;
  }
  set_row(mine, free_columns(mine), at.slot, {});
  set_row(mine, allocatable_columns(mine), at.slot, {});
  find_only_class(mine);
  mine.layout_version = mine.version;
  ++state_.layout_version;
  --state_.nodes;
}

void capacity_view::write_allocatable(node_ref at, const base::resources& x) {
  const auto row = flat(x);
  auto& mine = writable(at.block);
  set_row(mine, allocatable_columns(mine), at.slot, row);
  mine.layout_version = mine.version;
}

void capacity_view::write_free(const record& x) {
  auto left = x.free;
  auto ports = x.ports;
  for (const auto& m : x.marks) {
    left -= m.takes.amounts;
    ports.insert(ports.end(), m.takes.ports.begin(), m.takes.ports.end());
  }
  const auto row = flat(left);
  auto& mine = writable(x.at.block);
  set_row(mine, free_columns(mine), x.at.slot, row);
  mine.ports[x.at.slot] = std::move(ports);
}

bool capacity_view::replace_pods(record& x, const std::vector<base::tied_pods>& pods) {
  const auto size = x.pods ? x.pods->size() : 0;
  const bool is_same = size == pods.size()
                       && (size == 0
                           || std::equal(pods.begin(), pods.end(), x.pods->begin(),
                                         [](const base::tied_pods& a, const tied_row& b) {
                                           return a.kind->id == b.kind->id && a.count == b.count;
                                         }));
  if (is_same)
    return false;
  // Opened before the old ones are closed: a kind that stays is not decoded anew.
  auto fresh = tied_.open(pods);
  tied_.close(x.pods.get());
  x.pods = std::move(fresh);
  write_tied(x);
  return true;
}

void capacity_view::write_tied(record& x) {
  std::vector<base::tied_pods> marked;
  for (const auto& m : x.marks)
    if (m.ties)
      marked.push_back({m.ties, 1});
  auto combined = marked.empty() ? nullptr : tied_.open(marked, x.pods.get());
  tied_.close(x.combined.get());
  x.combined = std::move(combined);
  show_tied(x.at, x.combined ? x.combined : x.pods);
  follow_book();
}

void capacity_view::show_tied(node_ref at, const std::shared_ptr<const tied_rows>& rows) {
  const auto& shown = state_.at(at).tied;
  if (shown.empty() ? !rows : shown[at.slot] == rows)
    return;
  auto& mine = writable(at.block);
  mine.tied.resize(mine.size());
  mine.tied[at.slot] = rows;
  mine.tied_version = mine.version;
}

void capacity_view::follow_book() {
  if (state_.asking == tied_.asking())
    return;
  state_.asking = tied_.asking();
  ++state_.asking_version;
}

} // namespace tutti::placement::engine
