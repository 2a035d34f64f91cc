// Who owns whom, and what goes when the last owner has gone.
#include "sim/api_server/garbage.hpp"

#include "base/ensure.hpp"

namespace tutti::sim::api_server {

namespace {

/// Calls `with` for each owner that the object names.
template <class With>
void each_owner(const object& x, With with) {
  draft parsed{x.body};
  const auto* owners = look(parsed.doc(), {"metadata", "ownerReferences"});
  if (!owners || !owners->is_array())
    return;
  for (const auto& o : owners->get_array())
    if (o.is_object())
      with(o.get_object());
}

/// The part of the body that names owners; empty if there is none. Comparing it is cheaper than
/// reading the body, and pods with owners change often.
std::string_view owners_text(const object& x) {
  if (!x.is_owned)
    return {};
  const std::string_view body{x.body};
  const auto from = body.find(R"("ownerReferences":[)");
  ensure(from != std::string_view::npos, x.key);
  return body.substr(from, body.find(']', from) - from);
}

} // namespace

void garbage::begin() {
  owned_by_.clear();
  to_check_.clear();
  for (std::size_t k = 0; k < kind_count; ++k) {
    const auto kind = static_cast<kind_id>(k);
    seen_[k] = store_.end_event(kind);
    for (const auto& [key, x] : store_.all(kind))
      if (x->is_owned)
        index(kind, *x);
  }
}

void garbage::index(kind_id kind, const object& x) {
  each_owner(x, [&](const json::object& owner) {
    owned_by_[std::string{text_at(owner, {"uid"})}].insert({kind, x.key});
  });
  to_check_.insert({kind, x.key});
}

/// Entries of objects that have changed or gone since are left in `owned_by_` until their owner
/// goes: a check finds nothing to do for them.
void garbage::follow(kind_id kind, const event& e) {
  if (e.what == change::deleted) {
    const auto found = owned_by_.find(e.now->uid);
    if (found != owned_by_.end()) {
      to_check_.merge(found->second);
      owned_by_.erase(found);
    }
    return;
  }
  if (e.now->is_owned && (!e.before || owners_text(*e.before) != owners_text(*e.now)))
    index(kind, *e.now);
}

bool garbage::has_owner(const object& x) const {
  bool has_any = false;
  each_owner(x, [&](const json::object& owner) {
    const auto* what = kinds_.find_kind(text_at(owner, {"apiVersion"}), text_at(owner, {"kind"}));
    if (!what) {
      has_any = true;
      return;
    }
    const auto key =
        key_of(what->what->is_namespaced ? x.ns() : std::string_view{}, text_at(owner, {"name"}));
    const auto there = store_.find(what->what->id, key);
    has_any |= there && there->uid == text_at(owner, {"uid"});
  });
  return has_any;
}

bool garbage::collect_one(const place& where) {
  const auto& [kind, key] = where;
  const auto x = store_.find(kind, key);
  if (!x || !x->is_owned || x->is_deleting || has_owner(*x))
    return false;
  const auto* what = kinds_.preferred(kind);
  ensure(what != nullptr, info_of(kind).plural);
  delete_options how;
  how.uid = x->uid;
  return !is_refused(registry_.remove(*what, key, how));
}

bool garbage::collect() {
  for (std::size_t k = 0; k < kind_count; ++k) {
    const auto kind = static_cast<kind_id>(k);
    if (seen_[k] < store_.first_event(kind)) {
      begin(); // more happened at once than the window holds: look at everything again
      break;
    }
    for (; seen_[k] < store_.end_event(kind); ++seen_[k])
      follow(kind, store_.event_at(kind, seen_[k]));
  }
  bool has_done = false;
  for (const auto& where : std::exchange(to_check_, {}))
    has_done |= collect_one(where);
  return has_done;
}

} // namespace tutti::sim::api_server
