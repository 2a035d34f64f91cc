// Versions of Leases and since when they stand.
#include "bridge/replica_watch.hpp"

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "bridge/json_read.hpp"
#include "bridge/limits.hpp"
#include "bridge/own_lease.hpp"

namespace tutti::bridge {

bool replica_watch::take(const std::string& list, base::time_point asked, base::time_point now) {
  const parsed_json parsed{list};
  const auto* object = parsed.object();
  const auto* items = object ? array_at(*object, "items") : nullptr;
  if (!items)
    return false;
  looked_ = asked;
  for (const auto& item : *items) {
    const auto* lease = item.if_object();
    const auto* meta = lease ? object_at(*lease, "metadata") : nullptr;
    const auto* labels = meta ? object_at(*meta, "labels") : nullptr;
    const std::string name{labels ? text_at(*labels, replica_label) : ""};
    if (name.empty() || text_at(*meta, "name") != lease_name(name))
      continue;
    const auto* spec = object_at(*lease, "spec");
    const std::string version{text_at(*meta, "resourceVersion")};
    auto& known = seen_[name];
    const auto* notes = object_at(*meta, "annotations");
    known.link = notes ? text_at(*notes, link_annotation) : "";
    known.holder = spec ? text_at(*spec, "holderIdentity") : "";
    if (known.version != version) {
      known.version = version;
      known.changed = now;
    }
  }
  return true;
}

bool replica_watch::is_live(const seen& x) const {
  return !x.holder.empty() && looked_ && *looked_ < x.changed + lease_duration_;
}

bool replica_watch::is_live(const std::string& replica) const {
  const auto pos = seen_.find(replica);
  return pos != seen_.end() && is_live(pos->second);
}

std::set<std::string> replica_watch::live() const {
  std::set<std::string> out;
  for (const auto& [name, x] : seen_)
    if (is_live(x))
      out.insert(name);
  return out;
}

} // namespace tutti::bridge
