#include "sim/scenario/safety.hpp"

#include <algorithm>
#include <set>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "api/decode.hpp"
#include "api/dialect.hpp"
#include "api/requests.hpp"
#include "base/limits.hpp"

namespace tutti::sim::scenario {

namespace {

using api_server::change;
using api_server::kind_id;

/// A view may be this old before nothing is decided on it any more.
constexpr base::duration may_be_unseen = base::limits::view_stale_after + std::chrono::seconds{10};

/// A watch tells of a deletion within this, and an attempt ends.
constexpr base::duration watch_lag = std::chrono::seconds{1};

struct resident {
  std::string uid;
  std::string node;
  std::string group; ///< "ns/name"; empty = none
  base::footprint takes;
  std::int32_t priority = 0;
  base::time_point since{};
  bool is_ours = false; ///< bound by a scheduler of this world
  std::string domain;   ///< of its group's topology key, when it was bound
};

struct known_node {
  base::resources allocatable;
  std::map<std::string, std::string, std::less<>> labels;
  base::time_point changed{};
  base::resources roomier; ///< allocatable before the last change
};

class safety final : public checker {
public:
  safety(world& w, const tally& counts) : world_(w), counts_(counts) {}

  void stepped(process&, const protocol::address&, const protocol::event&,
               const protocol::effects&) override {}
  void durable(process&, const persistence::batch&) override {}
  void began(process&) override {}
  void ended(process&, std::string_view) override {}

  void arrives(std::string_view client, const protocol::http_request& request) override {
    const auto to = path_of(request.target);
    if (to.resource == "pods" && to.subresource == "binding" && request.method == "POST")
      binding_by_us_.insert(to.space + "/" + to.name);
    if (to.resource == "pods" && request.method == "DELETE" && !to.name.empty())
      check_victim(std::string{client}, to.space + "/" + to.name);
  }

  void api_turned() override {
    const auto& objects = world_.api().plane().objects();
    for (auto n = objects.event_after(kind_id::nodes, seen_); n < objects.end_event(kind_id::nodes);
         ++n)
      take_node(objects.event_at(kind_id::nodes, n));
    for (auto n = objects.event_after(kind_id::pods, seen_); n < objects.end_event(kind_id::pods);
         ++n)
      take_pod(objects.event_at(kind_id::pods, n));
    seen_ = objects.last();
    binding_by_us_.clear();
  }

  void settled() override {
    const auto& objects = world_.api().plane().objects();
    std::map<std::string, std::int64_t> bound;
    for (const auto& [key, r] : residents_)
      if (!r.group.empty() && is_live(key))
        ++bound[r.group];
    for (const auto& [key, x] : objects.all(kind_id::pod_groups)) {
      const auto group = read_group(*x);
      if (!group || group->rules.is_basic || group->has_started() || counts_.has_started(x->uid))
        continue;
      const auto n = bound[key];
      if (n > 0 && n < group->rules.min_count)
        add(fmt::format("gang {} has not started and {} of {} members are bound", key, n,
                        group->rules.min_count));
    }
  }

  const std::vector<std::string>& violations() const override { return violations_; }

private:
  void add(std::string what) { violations_.push_back(std::move(what)); }

  bool is_live(const std::string& key) const {
    const auto pod = world_.api().plane().objects().find(kind_id::pods, key);
    return pod && !pod->is_finished() && !pod->is_deleting;
  }

  static std::optional<api::pod_group> read_group(const api_server::object& x) {
    api_server::draft parsed{x.body};
    auto read = api::decode_pod_group(parsed.doc(), api::dialect::v1beta1);
    return read ? std::optional{std::move(*read)} : std::nullopt;
  }

  void take_node(const api_server::event& e) {
    const auto& name = e.now->key;
    if (e.what == change::deleted) {
      nodes_.erase(name);
      return;
    }
    api_server::draft parsed{e.now->body};
    const auto read = api::decode_node(parsed.doc());
    if (!read)
      return;
    auto& node = nodes_[name];
    if (e.what == change::modified && !(node.allocatable == read->allocatable)) {
      node.changed = world_.time().now();
      node.roomier = node.allocatable;
    }
    node.allocatable = read->allocatable;
    node.labels = read->meta.labels;
  }

  void take_pod(const api_server::event& e) {
    const auto& key = e.now->key;
    if (e.what == change::deleted || e.now->is_finished() || e.now->node_name.empty()) {
      residents_.erase(key);
      if (e.what == change::deleted && e.now->node_name.empty())
        departed_.emplace_back(world_.time().now(), priority_of(*e.now));
      return;
    }
    if (e.before && e.before->uid == e.now->uid && !e.before->node_name.empty()
        && e.before->node_name != e.now->node_name)
      add(fmt::format("S6: pod {} was bound to {} and then to {}", key, e.before->node_name,
                      e.now->node_name));
    api_server::draft parsed{e.now->body};
    const auto read = api::decode_pod(parsed.doc());
    if (!read)
      return;
    auto& r = residents_[key];
    const bool is_new = r.uid != e.now->uid;
    r.takes = api::footprint_of(*read);
    r.priority = read->priority.value_or(0);
    if (!is_new)
      return;
    r.uid = e.now->uid;
    r.node = e.now->node_name;
    r.group = e.now->group.empty() ? "" : fmt::format("{}/{}", e.now->ns(), e.now->group);
    r.since = world_.time().now();
    r.is_ours = binding_by_us_.contains(key);
    if (!r.is_ours)
      return;
    check_room(key, r);
    check_domain(key, r);
  }

  /// Upholds nothing, finds out: S1b in god's view.
  void check_room(const std::string& key, const resident& added) {
    const auto pos = nodes_.find(added.node);
    if (pos == nodes_.end()) {
      add(fmt::format("pod {} was bound to {}, which does not exist", key, added.node));
      return;
    }
    const auto unseen_since = world_.time().now() - may_be_unseen;
    base::resources used;
    for (const auto& [other, r] : residents_) {
      if (r.node != added.node || (!r.is_ours && r.since > unseen_since))
        continue;
      used += r.takes.amounts;
      for (const auto& mine : added.takes.ports)
        for (const auto& theirs : r.takes.ports)
          if (other != key && base::collide(mine, theirs))
            add(fmt::format("port {} of {} was bound to {}, where {} has it", mine.port, key,
                            added.node, other));
    }
    const auto& node = pos->second;
    const auto& room = node.changed > unseen_since && node.changed > base::time_point{}
                           ? larger(node.allocatable, node.roomier)
                           : node.allocatable;
    // Only what this pod asks for can be its fault.
    auto lacking = base::first_shortage(only_asked(used, added.takes.amounts), room);
    if (!lacking.fits())
      add(fmt::format("S1b: binding {} to {} makes {} of {} {}", key, added.node,
                      base::amount_text(lacking.name, lacking.need),
                      base::amount_text(lacking.name, lacking.room), lacking.name));
  }

  static base::resources larger(base::resources a, const base::resources& b) {
    a.cpu_milli = std::max(a.cpu_milli, b.cpu_milli);
    a.memory_bytes = std::max(a.memory_bytes, b.memory_bytes);
    a.ephemeral_bytes = std::max(a.ephemeral_bytes, b.ephemeral_bytes);
    a.pods = std::max(a.pods, b.pods);
    for (const auto& x : b.extended)
      a.set(x.name, std::max(x.amount, a.of(x.name)));
    return a;
  }

  static base::resources only_asked(const base::resources& sum, const base::resources& asked) {
    base::resources out;
    out.cpu_milli = asked.cpu_milli > 0 ? sum.cpu_milli : 0;
    out.memory_bytes = asked.memory_bytes > 0 ? sum.memory_bytes : 0;
    out.ephemeral_bytes = asked.ephemeral_bytes > 0 ? sum.ephemeral_bytes : 0;
    out.pods = sum.pods;
    for (const auto& x : asked.extended)
      out.set(x.name, sum.of(x.name));
    return out;
  }

  std::string label_of(const std::string& node, const std::string& key) const {
    const auto pos = nodes_.find(node);
    if (pos == nodes_.end())
      return {};
    const auto label = pos->second.labels.find(key);
    return label == pos->second.labels.end() ? std::string{} : "=" + label->second;
  }

  void check_domain(const std::string& key, resident& added) {
    if (added.group.empty())
      return;
    const auto x = world_.api().plane().objects().find(kind_id::pod_groups, added.group);
    const auto group = x ? read_group(*x) : std::nullopt;
    if (!group || group->rules.topology_key.empty())
      return;
    const auto& level = group->rules.topology_key;
    added.domain = label_of(added.node, level);
    if (added.domain.empty())
      add(fmt::format("pod {} of {} was bound to {}, which has no {}", key, added.group, added.node,
                      level));
    const auto unseen_since = world_.time().now() - may_be_unseen;
    for (const auto& [other, r] : residents_) {
      const bool is_known = r.is_ours || r.since <= unseen_since;
      if (other == key || r.group != added.group || !is_known || !is_live(other))
        continue;
      const auto now = label_of(r.node, level);
      if (!now.empty() && now != added.domain && r.domain != added.domain)
        add(fmt::format("pods {} and {} of {} are in two domains of {}: {} and {}", key, other,
                        added.group, level, added.node, r.node));
    }
  }

  static std::int32_t priority_of(const api_server::object& pod) {
    api_server::draft parsed{pod.body};
    const auto read = api::decode_pod(parsed.doc());
    return read ? read->priority.value_or(0) : 0;
  }

  std::optional<std::int32_t> highest_waiting_lately() const {
    std::optional<std::int32_t> out;
    for (const auto& [when, priority] : departed_)
      if (when + watch_lag >= world_.time().now())
        out = std::max(out.value_or(INT32_MIN), priority);
    return out;
  }

  /// Whoever waits no more may have waited until a moment ago: a watch takes its time.
  void check_victim(const std::string& client, const std::string& key) {
    const auto victim = residents_.find(key);
    if (victim == residents_.end())
      return;
    std::optional<std::int32_t> highest = highest_waiting_lately();
    for (const auto& [name, pod] : world_.api().plane().objects().all(kind_id::pods)) {
      if (!pod->node_name.empty() || pod->is_finished())
        continue;
      highest = std::max(highest.value_or(INT32_MIN), priority_of(*pod));
    }
    if (!highest || victim->second.priority >= *highest)
      add(fmt::format("S9: {} deletes {} of priority {}, and nobody of a higher one waits", client,
                      key, victim->second.priority));
  }

  world& world_;
  const tally& counts_;
  api_server::revision seen_ = 0;
  std::map<std::string, known_node, std::less<>> nodes_;
  std::map<std::string, resident> residents_;                       ///< by "ns/name"
  std::vector<std::pair<base::time_point, std::int32_t>> departed_; ///< that waited for a node
  std::set<std::string> binding_by_us_; ///< asked for in this turn of the server
  std::vector<std::string> violations_;
};

} // namespace

std::unique_ptr<checker> make_safety(world& w, const tally& counts) {
  return std::make_unique<safety>(w, counts);
}

} // namespace tutti::sim::scenario
