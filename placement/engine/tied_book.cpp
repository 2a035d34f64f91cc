// The list of kinds with terms is replaced, not changed: snapshots hold the old one.
#include "placement/engine/tied_book.hpp"

#include <algorithm>
#include <utility>

#include "base/ensure.hpp"

namespace tutti::placement::engine {

std::shared_ptr<const tied_rows> tied_book::open(const std::vector<base::tied_pods>& pods,
                                                 const tied_rows* besides) {
  tied_rows out;
  if (besides)
    out = *besides;
  for (const auto& row : out)
    ++known_.find(row.kind->id)->second.rows;
  out.reserve(out.size() + pods.size());
  for (const auto& p : pods) {
    ensure(p.kind != nullptr, p.count);
    if (p.count == 0)
      continue;
    auto pos = std::lower_bound(
        out.begin(), out.end(), p.kind->id,
        [](const tied_row& row, const base::ties_id& id) { return row.kind->id < id; });
    if (pos != out.end() && pos->kind->id == p.kind->id)
      pos->count += p.count;
    else
      out.insert(pos, {take(p.kind), p.count});
  }
  if (out.empty())
    return nullptr;
  return std::make_shared<tied_rows>(std::move(out));
}

void tied_book::close(const tied_rows* rows) {
  if (!rows)
    return;
  for (const auto& row : *rows) {
    const auto pos = known_.find(row.kind->id);
    ensure(pos != known_.end() && pos->second.rows > 0, row.kind->id.value);
    if (--pos->second.rows > 0)
      continue;
    const auto gone = pos->second.kind;
    unused_.push_back(gone->number);
    known_.erase(pos);
    if (gone->has_terms)
      set_asking(gone, false);
  }
}

const tied_kind_ptr& tied_book::take(const base::ties_ptr& kind) {
  auto [pos, is_new] = known_.try_emplace(kind->id);
  auto& mine = pos->second;
  ++mine.rows;
  if (!is_new)
    return mine.kind;
  auto fresh = std::make_shared<tied_kind>();
  fresh->id = kind->id;
  fresh->has_terms = kind->has_terms;
  if (auto decoded = api::decode_ties(kind->blob)) {
    auto labels = std::exchange(decoded->labels, {});
    fresh->asks = fresh->has_terms ? api::make_ties(*decoded)->id : base::ties_id{};
    decoded->labels = std::move(labels);
    fresh->terms = std::make_shared<const api::pod_ties>(std::move(*decoded));
  }
  fresh->number = static_cast<std::uint32_t>(known_.size() - 1);
  if (!unused_.empty()) {
    fresh->number = unused_.back();
    unused_.pop_back();
  }
  mine.kind = std::move(fresh);
  if (mine.kind->has_terms)
    set_asking(mine.kind, true);
  return mine.kind;
}

void tied_book::set_asking(const tied_kind_ptr& kind, bool is_there) {
  auto list = asking_ ? *asking_ : std::vector<tied_kind_ptr>{};
  const auto pos = std::lower_bound(
      list.begin(), list.end(), kind,
      [](const tied_kind_ptr& a, const tied_kind_ptr& b) { return a->id < b->id; });
  if (is_there)
    list.insert(pos, kind);
  else
    list.erase(pos);
  asking_ =
      list.empty() ? nullptr : std::make_shared<const std::vector<tied_kind_ptr>>(std::move(list));
}

} // namespace tutti::placement::engine
