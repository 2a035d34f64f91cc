// Defaults of pods, field by field as the real server sets them.
#include "api/defaults_pod.hpp"

#include <array>
#include <set>
#include <span>
#include <string>

#include <boost/json.hpp>

#include "api/json_edit.hpp"
#include "api/quantity.hpp"

namespace tutti::api {
namespace {

namespace json = boost::json;

template <class F>
void for_each_object(json::object& in, std::string_view key, F&& f) {
  if (auto* list = list_at(in, key))
    for (auto& item : *list)
      if (auto* object = item.if_object())
        f(*object);
}

template <class F>
void for_each_container(json::object& spec, std::span<const std::string_view> kinds, F&& f) {
  for (auto kind : kinds)
    for_each_object(spec, kind, f);
}

constexpr std::array<std::string_view, 3> all_containers{"containers", "initContainers",
                                                         "ephemeralContainers"};
constexpr std::array<std::string_view, 2> own_containers{"containers", "initContainers"};

/// Always for `latest` and for no tag, else IfNotPresent.
std::string_view pull_policy(std::string_view image) {
  if (image.find('@') != image.npos)
    return "IfNotPresent";
  auto slash = image.rfind('/');
  auto name = slash == image.npos ? image : image.substr(slash + 1);
  auto colon = name.rfind(':');
  return colon == name.npos || name.substr(colon + 1) == "latest" ? "Always" : "IfNotPresent";
}

void default_handler(json::object& handler) {
  if (auto* http = object_at(handler, "httpGet")) {
    set_if_empty(*http, "path", "/");
    set_if_empty(*http, "scheme", "HTTP");
  }
  if (auto* grpc = object_at(handler, "grpc"))
    set_if_absent(*grpc, "service", "");
}

/// Servers take a zero for absent here.
void set_if_zero(json::object& object, std::string_view key, std::int64_t value) {
  if (integer_at(object, key).value_or(0) == 0)
    object[key] = value;
}

void default_probe(json::object& probe) {
  default_handler(probe);
  set_if_zero(probe, "timeoutSeconds", 1);
  set_if_zero(probe, "periodSeconds", 10);
  set_if_zero(probe, "successThreshold", 1);
  set_if_zero(probe, "failureThreshold", 3);
}

void default_container(json::object& container) {
  set_if_empty(container, "terminationMessagePath", "/dev/termination-log");
  set_if_empty(container, "terminationMessagePolicy", "File");
  set_if_empty(container, "imagePullPolicy", pull_policy(text_at(container, "image")));
  ensure_object(container, "resources");
  for (auto* key : {"livenessProbe", "readinessProbe", "startupProbe"})
    if (auto* probe = object_at(container, key))
      default_probe(*probe);
  if (auto* lifecycle = object_at(container, "lifecycle"))
    for (auto* key : {"postStart", "preStop"})
      if (auto* handler = object_at(*lifecycle, key))
        default_handler(*handler);
  for_each_object(container, "ports",
                  [](json::object& port) { set_if_empty(port, "protocol", "TCP"); });
  for_each_object(container, "env", [](json::object& variable) {
    auto* from = object_at(variable, "valueFrom");
    if (auto* field = from ? object_at(*from, "fieldRef") : nullptr)
      set_if_empty(*field, "apiVersion", "v1");
  });
}

/// The limits and the requests, made if missing; nulls if there are no limits. Making one moves the
/// other, so both are looked up after that.
struct limited {
  json::object* limits = nullptr;
  json::object* requests = nullptr;

  explicit limited(json::object& resources) {
    auto* found = object_at(resources, "limits");
    if (!found || found->empty() || !ensure_object(resources, "requests"))
      return;
    limits = object_at(resources, "limits");
    requests = object_at(resources, "requests");
  }
};

/// A limit without a request is the request too.
void request_what_is_limited(json::object& resources) {
  limited both{resources};
  if (both.limits)
    for (auto& [name, amount] : *both.limits)
      if (!both.requests->contains(name))
        both.requests->emplace(name, amount);
}

bool is_pod_level(std::string_view resource) {
  return resource == "cpu" || resource == "memory" || resource.starts_with("hugepages-");
}

/// Pod-level limits become requests, unless containers ask for that resource themselves: then their
/// sum counts, which a scheduler adds up anyway.
void default_pod_level_requests(json::object& spec) {
  auto* resources = object_at(spec, "resources");
  if (!resources)
    return;
  std::set<std::string, std::less<>> asked;
  for_each_container(spec, own_containers, [&](json::object& container) {
    auto* own = object_at(container, "resources");
    if (auto* requests = own ? object_at(*own, "requests") : nullptr)
      for (auto& [name, amount] : *requests)
        asked.insert(std::string{name});
  });
  limited both{*resources};
  if (both.limits)
    for (auto& [name, amount] : *both.limits)
      if (is_pod_level(name) && !asked.contains(name) && !both.requests->contains(name))
        both.requests->emplace(name, amount);
}

void default_resources(json::object& spec) {
  auto respell = [](json::object& resources) {
    for (auto* key : {"requests", "limits"})
      if (auto* amounts = object_at(resources, key))
        respell_amounts(*amounts);
  };
  for_each_container(spec, own_containers, [&](json::object& container) {
    if (auto* resources = object_at(container, "resources")) {
      respell(*resources);
      request_what_is_limited(*resources);
    }
  });
  if (auto* resources = object_at(spec, "resources"))
    respell(*resources);
  if (auto* overhead = object_at(spec, "overhead"))
    respell_amounts(*overhead);
  default_pod_level_requests(spec);
}

/// In the node's network every port is a port of the node.
void default_host_ports(json::object& spec) {
  if (!is_true_at(spec, "hostNetwork"))
    return;
  for_each_container(spec, own_containers, [](json::object& container) {
    for_each_object(container, "ports", [](json::object& port) {
      if (auto inside = integer_at(port, "containerPort"))
        set_if_zero(port, "hostPort", *inside);
    });
  });
}

void default_volumes(json::object& spec) {
  constexpr std::int64_t readable = 0644;
  for_each_object(spec, "volumes", [](json::object& volume) {
    if (volume.size() == 1 && volume.contains("name"))
      volume["emptyDir"] = json::object{};
    for (auto* key : {"secret", "configMap", "downwardAPI", "projected"})
      if (auto* source = object_at(volume, key))
        set_if_absent(*source, "defaultMode", readable);
    if (auto* path = object_at(volume, "hostPath"))
      set_if_absent(*path, "type", "");
    if (auto* projected = object_at(volume, "projected"))
      for_each_object(*projected, "sources", [](json::object& source) {
        if (auto* token = object_at(source, "serviceAccountToken"))
          set_if_absent(*token, "expirationSeconds", 3600);
      });
  });
}

/// What one list of requests or limits says about the quality of service.
struct served_amounts {
  bool has_any = false; ///< some cpu or memory is asked for
  bool is_full = true;  ///< both are limited, and all that is limited is asked for

  void add(const json::object& resources) {
    auto *requests = object_at(resources, "requests"), *limits = object_at(resources, "limits");
    for (auto* name : {"cpu", "memory"}) {
      auto* asked = requests ? member(*requests, name) : nullptr;
      auto* limit = limits ? member(*limits, name) : nullptr;
      auto request = asked ? quantity_of(*asked) : quantity{};
      auto most = limit ? quantity_of(*limit) : quantity{};
      if (!request || !most)
        continue;
      has_any = has_any || !request->is_zero() || !most->is_zero();
      is_full = is_full && !most->is_zero() && request->compare(*most) == 0;
    }
  }
};

} // namespace

void respell_amounts(json::object& resources) {
  for (auto& [name, amount] : resources)
    if (auto read = quantity_of(amount))
      amount = read->rounded_to_milli().text();
}

void default_pod_spec(json::object& spec, std::string_view scheduler_name) {
  set_if_empty(spec, "restartPolicy", "Always");
  set_if_empty(spec, "dnsPolicy", "ClusterFirst");
  set_if_empty(spec, "schedulerName", scheduler_name);
  set_if_absent(spec, "terminationGracePeriodSeconds", 30);
  set_if_absent(spec, "enableServiceLinks", true);
  ensure_object(spec, "securityContext");
  for_each_container(spec, all_containers, default_container);
  default_resources(spec);
  default_host_ports(spec);
  default_volumes(spec);
}

std::string_view qos_class(const json::object& spec) {
  served_amounts all;
  if (auto* whole = object_at(spec, "resources"); whole && !whole->empty()) {
    all.add(*whole);
  } else {
    for (auto kind : own_containers)
      if (auto* containers = list_at(spec, kind))
        for (auto& container : *containers) {
          auto* object = container.if_object();
          auto* resources = object ? object_at(*object, "resources") : nullptr;
          all.add(resources ? *resources : json::object{});
        }
  }
  if (!all.has_any)
    return "BestEffort";
  return all.is_full ? "Guaranteed" : "Burstable";
}

} // namespace tutti::api
