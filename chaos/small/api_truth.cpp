#include "chaos/small/api_truth.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include "base/ensure.hpp"
#include "base/hash.hpp"
#include "bridge/decision_objects.hpp"
#include "bridge/pod_view.hpp"
#include "chaos/small/scene.hpp"
#include "protocol/decision_rules.hpp"

namespace tutti::chaos::small {

namespace json = boost::json;

namespace {

std::string at(const json::value& x, const char* pointer) {
  boost::system::error_code failed;
  const auto* found = x.find_pointer(pointer, failed);
  return found != nullptr && found->is_string() ? std::string{found->as_string()} : std::string{};
}

std::string note_of(const json::value& x, std::string_view annotation) {
  std::string key{annotation}; // '/' is escaped in a pointer
  if (const auto slash = key.find('/'); slash != key.npos)
    key.replace(slash, 1, "~1");
  return at(x, ("/metadata/annotations/" + key).c_str());
}

std::string body_of(std::size_t n, const api_truth::pod& x) {
  json::object meta{
      {"name", api_truth::name_of(n)},
      {"uid", api_truth::uid_of(n)},
      {"resourceVersion", std::to_string(x.version)},
      {"annotations",
       {{json::string_view{bridge::fence_annotation.data(), bridge::fence_annotation.size()},
         x.fence},
        {json::string_view{bridge::touch_annotation.data(), bridge::touch_annotation.size()},
         x.touch}}}};
  if (x.is_deleting)
    meta["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  return json::serialize(
      json::value{{"metadata", std::move(meta)}, {"spec", {{"nodeName", x.node}}}});
}

protocol::answered refusal(std::uint64_t id, int status, std::string message) {
  return {id, status, json::serialize(json::value{{"message", message}}), 0};
}

/// The gang of a GangDecision's name; `gangs_most` if the text names none.
std::size_t gang_named_in(std::string_view text) {
  for (std::size_t g = 0; g < gangs_most; ++g)
    if (const auto name = bridge::decision_name(the_gang(g)); text.ends_with(name))
      return g;
  return gangs_most;
}

} // namespace

bool is_about_decisions(const protocol::http_request& request) {
  return request.target.find("/gangdecisions") != std::string::npos;
}

target target_of(const protocol::http_request& request) {
  constexpr std::string_view before = "/pods/";
  const auto from = request.target.find(before);
  ensure(from != std::string::npos, request.target);
  const auto rest = request.target.substr(from + before.size());
  const auto name = rest.substr(0, rest.find('/'));
  for (std::size_t n = 0; n < pods_most; ++n)
    if (name == api_truth::name_of(n))
      return {n, rest.ends_with("/binding")};
  ensure(false, name);
  return {};
}

std::string node_of(const protocol::http_request& binding) {
  return at(json::parse(binding.body), "/target/name");
}

api_truth::api_truth(std::size_t gangs, std::string victim_on) {
  for (std::size_t n = first_of(gangs); n < pods_most; ++n)
    all_.at(n).is_gone = true;
  if (victim_on.empty())
    return;
  all_.at(the_victim).is_gone = false;
  all_.at(the_victim).node = std::move(victim_on);
}

// ---------------------------------------------------------------- decisions

/// As a server keeps an object: it gives it a uid and a version for each change.
void api_truth::write(object& x, const std::string& body) {
  auto written = json::parse(body).as_object();
  auto& meta = written.at("metadata").as_object();
  meta["uid"] = "decision-uid";
  meta["resourceVersion"] = std::to_string(++x.version);
  x.body = std::make_shared<const std::string>(json::serialize(written));
  const auto read = bridge::read_decision_object(written);
  ensure(read.has_value(), *x.body);
  auto what = bridge::decision_of(*read, read->record);
  ensure(what.has_value(), *x.body);
  x.what = std::make_shared<const protocol::decision>(std::move(*what));
}

/// A create of what is there is refused, and so is a replacement of another version than there is.
protocol::answered api_truth::serve_decision(std::uint64_t id,
                                             const protocol::http_request& request) {
  const bool is_list = request.target.find("/namespaces/") == std::string::npos;
  const auto named = gang_named_in(
      request.method == "POST" ? at(json::parse(request.body), "/metadata/name") : request.target);
  if (is_list) {
    const bool is_hiding = request.target.find("labelSelector") != std::string::npos;
    std::string items;
    for (std::size_t g = 0; g < gangs_most; ++g) {
      const auto& x = objects_[g];
      const bool is_hidden = is_hiding && x.what && protocol::is_finished(*x.what);
      const bool is_meant = named == gangs_most || named == g;
      if (x.body && is_meant && !is_hidden)
        items += (items.empty() ? "" : ",") + *x.body;
    }
    return {id, 200, fmt::format(R"({{"metadata":{{"resourceVersion":"1"}},"items":[{}]}})", items),
            0};
  }
  auto& x = objects_.at(named);
  if (request.method == "GET")
    return x.body ? protocol::answered{id, 200, *x.body, 0} : refusal(id, 404, "not found");
  if (request.method == "POST") {
    if (x.body)
      return refusal(id, 409, "AlreadyExists");
    write(x, request.body);
    return {id, 201, *x.body, 0};
  }
  ensure(request.method == "PUT", request.method, request.target);
  if (!x.body)
    return refusal(id, 404, "not found");
  if (at(json::parse(request.body), "/metadata/resourceVersion") != std::to_string(x.version))
    return refusal(id, 409, "the object has been modified");
  write(x, request.body);
  return {id, 200, *x.body, 0};
}

// ---------------------------------------------------------------- pods

protocol::answered api_truth::serve(std::uint64_t id, const protocol::http_request& request) {
  if (is_about_decisions(request))
    return serve_decision(id, request);
  const auto [n, is_binding] = target_of(request);
  auto& x = all_.at(n);
  if (x.is_gone)
    return refusal(id, 404, "not found");
  if (request.method == "GET")
    return {id, 200, body_of(n, x), 0};
  if (request.method == "DELETE")
    return serve_removal(id, n, request);
  const auto body = json::parse(request.body);
  if (at(body, "/metadata/uid") != uid_of(n))
    return refusal(id, is_binding ? 409 : 422, "metadata.uid: another pod");
  if (!is_binding)
    return serve_patch(id, n, request);
  if (at(body, "/metadata/resourceVersion") != std::to_string(x.version))
    return refusal(id, 409, "the object has been modified");
  if (!x.node.empty())
    return refusal(id, 409, "pod is already assigned to node " + x.node);
  x.node = node_of(request);
  x.fence = note_of(body, bridge::fence_annotation);
  ++x.version;
  return {id, 201, "{}", 0};
}

/// A touch, or the mark of a victim. A patch that changes nothing leaves the version alone.
protocol::answered api_truth::serve_patch(std::uint64_t id, std::size_t n,
                                          const protocol::http_request& request) {
  ensure(request.method == "PATCH", request.method);
  auto& x = all_.at(n);
  const auto was = x;
  const auto body = json::parse(request.body);
  if (request.target.ends_with("/status")) {
    x.mark = at(body, "/status/conditions/0/lastTransitionTime");
  } else {
    x.fence = note_of(body, bridge::fence_annotation);
    x.touch = note_of(body, bridge::touch_annotation);
  }
  if (was != x)
    ++x.version;
  return {id, 200, body_of(n, x), 0};
}

/// Accepted, if it is the version that was named; the pod stops some time later.
protocol::answered api_truth::serve_removal(std::uint64_t id, std::size_t n,
                                            const protocol::http_request& request) {
  auto& x = all_.at(n);
  const auto body = json::parse(request.body);
  if (at(body, "/preconditions/uid") != uid_of(n)
      || at(body, "/preconditions/resourceVersion") != std::to_string(x.version))
    return refusal(id, 409, "the object has been modified");
  if (!x.is_deleting)
    ++x.version;
  x.is_deleting = true;
  return {id, 200, body_of(n, x), 0};
}

std::uint64_t api_truth::state_hash() const {
  std::uint64_t h = 0;
  for (const auto& x : all_) {
    h = base::hash_combine(h, x.version * 4 + (x.is_gone ? 1 : 0) + (x.is_deleting ? 2 : 0));
    for (const auto* text : {&x.node, &x.fence, &x.touch, &x.mark})
      h = base::hash_combine(h, base::hash_of(*text));
  }
  for (const auto& x : objects_)
    h = base::hash_combine(h, x.body ? base::hash_of(*x.body) : 0);
  return h;
}

} // namespace tutti::chaos::small
