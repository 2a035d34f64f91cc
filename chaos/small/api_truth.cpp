#include "chaos/small/api_truth.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

#include "base/ensure.hpp"
#include "base/hash.hpp"
#include "bridge/decision_objects.hpp"
#include "bridge/pod_view.hpp"
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
  return json::serialize(json::value{
      {"metadata",
       {{"name", api_truth::name_of(n)},
        {"uid", api_truth::uid_of(n)},
        {"resourceVersion", std::to_string(x.version)},
        {"annotations",
         {{json::string_view{bridge::fence_annotation.data(), bridge::fence_annotation.size()},
           x.fence},
          {json::string_view{bridge::touch_annotation.data(), bridge::touch_annotation.size()},
           x.touch}}}}},
      {"spec", {{"nodeName", x.node}}}});
}

protocol::answered refusal(std::uint64_t id, int status, std::string message) {
  return {id, status, json::serialize(json::value{{"message", message}}), 0};
}

std::string list_of(const std::string* object) {
  return fmt::format(R"({{"metadata":{{"resourceVersion":"1"}},"items":[{}]}})",
                     object != nullptr ? *object : "");
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
  ensure(name == api_truth::name_of(0) || name == api_truth::name_of(1), name);
  return {name == api_truth::name_of(0) ? 0u : 1u, rest.ends_with("/binding")};
}

std::string node_of(const protocol::http_request& binding) {
  return at(json::parse(binding.body), "/target/name");
}

/// As a server keeps an object: it gives it a uid and a version for each change.
void api_truth::write(const std::string& body) {
  auto object = json::parse(body).as_object();
  auto& meta = object.at("metadata").as_object();
  meta["uid"] = "decision-uid";
  meta["resourceVersion"] = std::to_string(++version_);
  object_ = std::make_shared<const std::string>(json::serialize(object));
  const auto read = bridge::read_decision_object(object);
  ensure(read.has_value(), *object_);
  auto what = bridge::decision_of(*read, read->record);
  ensure(what.has_value(), *object_);
  decision_ = std::make_shared<const protocol::decision>(std::move(*what));
}

/// A create of what is there is refused, and so is a replacement of another version than there is.
protocol::answered api_truth::serve_decision(std::uint64_t id,
                                             const protocol::http_request& request) {
  const bool is_all = request.target.find("/namespaces/") == std::string::npos;
  if (request.method == "GET") {
    if (!is_all)
      return object_ ? protocol::answered{id, 200, *object_, 0} : refusal(id, 404, "not found");
    const bool is_hidden = request.target.find("labelSelector") != std::string::npos && decision_
                           && protocol::is_finished(*decision_);
    return {id, 200, list_of(is_hidden ? nullptr : object_.get()), 0};
  }
  if (request.method == "POST") {
    if (object_)
      return refusal(id, 409, "AlreadyExists");
    write(request.body);
    return {id, 201, *object_, 0};
  }
  ensure(request.method == "PUT", request.method, request.target);
  if (!object_)
    return refusal(id, 404, "not found");
  if (at(json::parse(request.body), "/metadata/resourceVersion") != std::to_string(version_))
    return refusal(id, 409, "the object has been modified");
  write(request.body);
  return {id, 200, *object_, 0};
}

protocol::answered api_truth::serve(std::uint64_t id, const protocol::http_request& request) {
  if (is_about_decisions(request))
    return serve_decision(id, request);
  const auto [n, is_binding] = target_of(request);
  auto& x = all_.at(n);
  if (x.is_gone)
    return refusal(id, 404, "not found");
  if (request.method == "GET")
    return {id, 200, body_of(n, x), 0};
  const auto body = json::parse(request.body);
  if (at(body, "/metadata/uid") != uid_of(n))
    return refusal(id, is_binding ? 409 : 422, "metadata.uid: another pod");
  const auto fence = note_of(body, bridge::fence_annotation);
  const auto touch = note_of(body, bridge::touch_annotation);
  if (!is_binding) {
    ensure(request.method == "PATCH", request.method);
    if (fence != x.fence || touch != x.touch)
      ++x.version; // a patch that changes nothing leaves the version alone
    x.fence = fence;
    x.touch = touch;
    return {id, 200, body_of(n, x), 0};
  }
  if (at(body, "/metadata/resourceVersion") != std::to_string(x.version))
    return refusal(id, 409, "the object has been modified");
  if (!x.node.empty())
    return refusal(id, 409, "pod is already assigned to node " + x.node);
  x.node = node_of(request);
  x.fence = fence;
  ++x.version;
  return {id, 201, "{}", 0};
}

std::uint64_t api_truth::state_hash() const {
  std::uint64_t h = 0;
  for (const auto& x : all_) {
    h = base::hash_combine(h, x.version * 2 + (x.is_gone ? 1 : 0));
    for (const auto* text : {&x.node, &x.fence, &x.touch})
      h = base::hash_combine(h, base::hash_of(*text));
  }
  if (object_)
    h = base::hash_combine(h, base::hash_of(*object_));
  return h;
}

} // namespace tutti::chaos::small
