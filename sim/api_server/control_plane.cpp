// The parts put together, the objects of a fresh cluster, and applying files.
#include "sim/api_server/control_plane.hpp"

#include <fmt/format.h>

#include "base/ensure.hpp"

namespace tutti::sim::api_server {

control_plane::control_plane(options o, const base::clock& time)
    : options_(std::move(o)), clock_(time), kinds_(options_.kubernetes), store_(options_.keeps),
      rules_({options_.kubernetes, options_.default_scheduler}, store_),
      registry_({options_.seed}, kinds_, store_, rules_, clock_),
      handler_(kinds_, store_, registry_, clock_),
      kubelet_(options_.nodes, store_, registry_, clock_), controllers_(kinds_, store_, registry_) {
}

void control_plane::begin() {
  if (store_.last() == 0) {
    auto make = [&](kind_id kind, json::object doc) {
      auto done = registry_.create(*kinds_.preferred(kind), "", doc, {});
      ensure(!is_refused(done), json::serialize(doc));
    };
    for (auto name : {"default", "kube-system", "kube-public", "kube-node-lease"})
      make(kind_id::namespaces,
           {{"metadata", {{"name", name}, {"labels", {{"kubernetes.io/metadata.name", name}}}}},
            {"spec", {{"finalizers", json::array{"kubernetes"}}}}});
    auto make_class = [&](std::string_view name, std::int64_t value, std::string_view what) {
      make(kind_id::priority_classes, {{"metadata", {{"name", name}}},
                                       {"value", value},
                                       {"description", what},
                                       {"preemptionPolicy", "PreemptLowerPriority"}});
    };
    make_class("system-node-critical", 2'000'001'000,
               "Used for system critical pods that must not be moved from their current node.");
    make_class("system-cluster-critical", 2'000'000'000,
               "Used for system critical pods that must run in the cluster, but can be moved to "
               "another node if necessary.");
  }
  kubelet_.begin(clock_.now());
  controllers_.begin();
}

void control_plane::say_disk(const persistence::disk_space& x) {
  space_ = x;
  handler_.say_disk(x);
}

void control_plane::on_time(base::time_point now) {
  kubelet_.react(now);
  controllers_.react();
}

std::size_t control_plane::pending_work() const {
  return static_cast<std::size_t>(store_.last() - store_.durable()) + kubelet_.unfinished();
}

base::result<applied> control_plane::apply(const std::vector<json::object>& objects,
                                           const std::vector<std::string>& places,
                                           const base::step_watch& watch) {
  ensure(places.empty() || places.size() == objects.size(), places.size(), objects.size());
  if (!space_.has_plenty())
    return persistence::full_error(space_);
  applied sum;
  for (std::size_t i = 0; i < objects.size(); ++i) {
    if (auto done = apply_one(objects[i], sum); !done)
      return places.empty() ? done.error() : done.error().in(places[i]);
    if (!base::goes_on(watch, i + 1))
      return base::stopped();
  }
  return sum;
}

base::result<void> control_plane::apply_one(const json::object& object, applied& sum) {
  auto kind = text_at(object, {"kind"});
  auto version = text_at(object, {"apiVersion"});
  std::string name{text_at(object, {"metadata", "name"})};
  auto label = fmt::format("{} {}", kind, name);
  auto* what = kinds_.find_kind(version, kind);
  if (!what)
    return base::error{base::code::bad_input,
                       fmt::format("{}: {} has no such kind in {}", label,
                                   full_version(options_.kubernetes), version)};
  std::string ns;
  if (what->what->is_namespaced) {
    ns = text_at(object, {"metadata", "namespace"});
    if (ns.empty())
      ns = "default";
  }
  auto refused = [&](const refusal& r) {
    auto code = r.code == 403   ? base::code::forbidden
                : r.code == 409 ? base::code::conflict
                : r.code == 404 ? base::code::not_found
                                : base::code::bad_input;
    return base::error{code, api::text_for_people(r)};
  };
  auto key = key_of(ns, name);
  auto old = store_.find(what->what->id, key);
  auto before = store_.last();
  auto has_status = what->what->has_status && object.contains("status");
  if (!old) {
    json::object doc(object);
    auto done = registry_.create(*what, ns, doc, {});
    if (auto* r = std::get_if<refusal>(&done))
      return refused(*r);
    ++sum.created;
  } else {
    if (what->what->id == kind_id::pods && old->is_finished()) {
      ++sum.unchanged; // never resurrected
      return {};
    }
    json::object changes(object);
    auto& meta = child(changes, "metadata"); // of an exported file: not the file's to say
    for (auto own : {"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"})
      meta.stable_erase(own);
    auto done = registry_.patch(*what, key, part::whole, patch_type::strategic,
                                json::value(std::move(changes)), {});
    if (auto* r = std::get_if<refusal>(&done))
      return refused(*r);
  }
  if (has_status) {
    json::object changes{{"status", object.at("status")}};
    auto done = registry_.patch(*what, key, part::status, patch_type::strategic,
                                json::value(std::move(changes)), {});
    if (auto* r = std::get_if<refusal>(&done))
      return refused(*r);
  }
  if (old)
    ++(store_.last() == before ? sum.unchanged : sum.changed);
  return {};
}

} // namespace tutti::sim::api_server
