// GangDecisions and their chunks as JSON.
#include "bridge/decision_objects.hpp"

#include <algorithm>

#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/core.h>

#include "base/attempt_text.hpp"
#include "base/ensure.hpp"
#include "bridge/base64.hpp"
#include "bridge/http_text.hpp"
#include "bridge/json_read.hpp"
#include "bridge/limits.hpp"
#include "bridge/pod_requests.hpp"
#include "protocol/decision_rules.hpp"
#include "protocol/records_codec.hpp"

namespace tutti::bridge {
namespace {

namespace json = boost::json;
using base::code;
using base::error;

constexpr std::string_view api_version = "tutti.dev/v1alpha1";

json::string_view text(std::string_view x) {
  return {x.data(), x.size()};
}

std::string collection(std::string_view space, std::string_view plural) {
  return fmt::format("/apis/{}/namespaces/{}/{}", api_version, space, plural);
}

constexpr std::string_view decisions = "gangdecisions";
constexpr std::string_view chunks = "gangdecisionchunks";

error corrupt(std::string_view name, std::string_view why) {
  return {code::corrupt, fmt::format("GangDecision {}: {}", name, why)};
}

/// A number that is not there is zero; one that is negative or no number is corrupt.
base::result<std::uint64_t> number_at(const json::object& in, std::string_view key) {
  const auto* found = in.if_contains(text(key));
  if (found == nullptr || found->is_null())
    return std::uint64_t{0};
  if (found->is_uint64())
    return found->get_uint64();
  if (!found->is_int64() || found->get_int64() < 0)
    return error{code::corrupt, fmt::format("{} is no number", key)};
  return static_cast<std::uint64_t>(found->get_int64());
}

std::vector<std::string> texts_at(const json::object& in, std::string_view key) {
  std::vector<std::string> out;
  if (const auto* list = array_at(in, key))
    for (const auto& x : *list)
      if (const auto* t = x.if_string())
        out.emplace_back(t->data(), t->size());
  return out;
}

json::array array_of(const std::vector<std::string>& all) {
  json::array out;
  for (const auto& x : all)
    out.emplace_back(text(x));
  return out;
}

std::string body_of(const decision_object& x) {
  json::object spec{{"gang", x.gang}, {"ordinal", x.ordinal}};
  if (x.ordinal > 0) {
    spec["attempt"] = x.attempt;
    spec["verdict"] = x.verdict;
    if (x.chunks.empty())
      spec["record"] = to_base64(x.record);
    else
      spec["chunks"] = array_of(x.chunks);
    json::array cancelled;
    for (const auto& pod : x.cancelled)
      cancelled.emplace_back(text(pod.value));
    if (!cancelled.empty())
      spec["cancelled"] = std::move(cancelled);
    if (x.adopted_by.value > 0)
      spec["adoptedBy"] = x.adopted_by.value;
    spec["done"] = x.is_done;
  }
  return json::serialize(json::object{{"apiVersion", text(api_version)},
                                      {"kind", "GangDecision"},
                                      {"metadata", x.metadata},
                                      {"spec", std::move(spec)}});
}

void set_mark(json::object& metadata, bool is_wanted) {
  json::array kept;
  if (const auto* list = array_at(metadata, "finalizers"))
    for (const auto& f : *list)
      if (f != json::value(text(unfinished_mark)))
        kept.push_back(f);
  if (is_wanted)
    kept.emplace_back(text(unfinished_mark));
  if (kept.empty())
    metadata.erase("finalizers");
  else
    metadata["finalizers"] = std::move(kept);

  json::object labels;
  if (const auto* there = object_at(metadata, "labels"))
    labels = *there;
  if (is_wanted)
    labels[unfinished_mark] = "true";
  else
    labels.erase(unfinished_mark);
  if (labels.empty())
    metadata.erase("labels");
  else
    metadata["labels"] = std::move(labels);
}

protocol::http_request request(std::string method, std::string target, std::string body,
                               bool is_urgent) {
  return {.method = std::move(method),
          .target = std::move(target),
          .body = std::move(body),
          .content_type = {},
          .is_urgent = is_urgent};
}

} // namespace

std::string_view decision_object::space() const {
  return text_at(metadata, "namespace");
}
std::string_view decision_object::name() const {
  return text_at(metadata, "name");
}
std::string_view decision_object::uid() const {
  return text_at(metadata, "uid");
}
std::string_view decision_object::resource_version() const {
  return text_at(metadata, "resourceVersion");
}

std::string decision_name(const base::gang_uid& gang) {
  const auto& uid = gang.value;
  const bool is_plain =
      !uid.empty() && uid.size() <= limits::plain_uid_bytes
      && std::all_of(
          uid.begin(), uid.end(),
          [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; })
      && uid.back() != '-';
  if (is_plain)
    return "gang-" + uid;
  const auto first = base::hash_of(uid);
  return fmt::format("gang-{:016x}{:016x}", first,
                     base::hash_of(uid + "/" + std::to_string(first)));
}

base::result<decision_object> read_decision_object(const json::object& x) {
  decision_object out;
  const auto* metadata = object_at(x, "metadata");
  const auto* spec = object_at(x, "spec");
  if (metadata == nullptr)
    return corrupt("?", "has no metadata");
  out.metadata = *metadata;
  out.metadata.erase("managedFields");
  if (out.name().empty() || out.uid().empty() || out.resource_version().empty())
    return corrupt(out.name(), "has no name, uid or resourceVersion");
  if (spec == nullptr)
    return corrupt(out.name(), "has no spec");
  const auto ordinal = number_at(*spec, "ordinal");
  const auto adopted_by = number_at(*spec, "adoptedBy");
  if (!ordinal || !adopted_by)
    return corrupt(out.name(), (ordinal ? adopted_by : ordinal).error().message());
  out.ordinal = *ordinal;
  out.adopted_by = {*adopted_by};
  out.gang = text_at(*spec, "gang");
  out.attempt = text_at(*spec, "attempt");
  out.verdict = text_at(*spec, "verdict");
  auto record = from_base64(text_at(*spec, "record"));
  if (!record)
    return corrupt(out.name(), "its record is no base64");
  out.record = std::move(*record);
  out.chunks = texts_at(*spec, "chunks");
  for (auto& pod : texts_at(*spec, "cancelled"))
    out.cancelled.push_back({std::move(pod)});
  const auto* done = spec->if_contains("done");
  out.is_done = done != nullptr && done->is_bool() && done->get_bool();
  if (out.ordinal > 0 && out.record.empty() == out.chunks.empty())
    return corrupt(out.name(), "has neither a record nor chunks, or both");
  return out;
}

base::result<protocol::decision> decision_of(const decision_object& x, std::string_view bytes) {
  ensure(x.ordinal > 0, x.name());
  auto read = protocol::decode_decision(bytes);
  if (!read)
    return read.error().in(fmt::format("GangDecision {}", x.name()));
  if (read->by.ordinal != x.ordinal || decision_name(read->by.gang) != x.name())
    return corrupt(x.name(), "its record is about another slot");
  if (x.attempt != to_text(read->by))
    return corrupt(x.name(), "its record is of another attempt than it says");
  read->cancelled = x.cancelled;
  read->adopted_by = x.adopted_by;
  read->is_done = x.is_done;
  return read;
}

void put_decision(decision_object& x, const protocol::decision& what,
                  std::vector<std::string> in_chunks) {
  ensure(decision_name(what.by.gang) == x.name(), x.name());
  const bool is_new = x.ordinal != what.by.ordinal || x.attempt != to_text(what.by);
  ensure(!is_new || what.cancelled.empty(), x.name());
  x.gang = what.gang_name.name;
  x.ordinal = what.by.ordinal;
  x.attempt = to_text(what.by);
  x.verdict = what.what == protocol::verdict::committed ? "Committed" : "Aborted";
  x.adopted_by = what.adopted_by;
  x.is_done = what.is_done;
  // Upholds S2: the bytes of a slot are written once; only DONE drops the plan.
  if (what.is_done) {
    auto kept = protocol::tombstone_of(what);
    if (kept.bound.size() > limits::decision_bound_most)
      kept.bound.clear();
    kept.adopted_by = {};
    kept.is_done = false;
    x.record = protocol::encode(kept);
    x.chunks.clear();
    x.cancelled.clear();
  } else {
    if (is_new) {
      x.chunks = std::move(in_chunks);
      x.record = x.chunks.empty() ? protocol::encode(what) : std::string{};
    }
    x.cancelled = what.cancelled;
  }
  set_mark(x.metadata, !protocol::is_finished(what));
}

json::object new_metadata(const protocol::decision& what, const root_kind& roots) {
  json::object out{{"name", decision_name(what.by.gang)}, {"namespace", what.gang_name.space}};
  const bool has_root = what.is_lone_pod || !roots.group_api_version.empty();
  if (has_root)
    out["ownerReferences"] = json::array{
        json::object{{"apiVersion", what.is_lone_pod ? "v1" : text(roots.group_api_version)},
                     {"kind", what.is_lone_pod ? "Pod" : "PodGroup"},
                     {"name", what.gang_name.name},
                     {"uid", what.by.gang.value}}};
  return out;
}

std::vector<chunk> cut(std::string_view bytes, std::size_t size, const decision_object& of,
                       const base::slot_id& slot) {
  ensure(size > 0 && !of.uid().empty(), size, of.name());
  std::vector<chunk> out;
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    chunk one;
    one.data = bytes.substr(at, size);
    const auto about = fmt::format("{}/{}/{}/", of.uid(), slot.ordinal, out.size()) + one.data;
    const auto first = base::hash_of(about);
    one.name = fmt::format("chunk-{:016x}{:016x}", first,
                           base::hash_of(fmt::format("{}/", first) + about));
    out.push_back(std::move(one));
  }
  return out;
}

base::result<std::string> read_chunk(std::string_view body) {
  const parsed_json read{body};
  const auto* whole = read.object();
  const auto* spec = whole ? object_at(*whole, "spec") : nullptr;
  auto data = spec ? from_base64(text_at(*spec, "data")) : std::nullopt;
  if (!data)
    return error{code::corrupt, "a GangDecisionChunk without data"};
  return std::move(*data);
}

// ---------------------------------------------------------------- requests

protocol::http_request create_decision_request(const decision_object& x) {
  return request("POST", collection(x.space(), decisions), body_of(x), false);
}

protocol::http_request replace_decision_request(const decision_object& x, bool is_urgent) {
  ensure(!x.resource_version().empty(), x.name());
  return request("PUT", collection(x.space(), decisions) + "/" + std::string{x.name()}, body_of(x),
                 is_urgent);
}

protocol::http_request get_decision_request(std::string_view space, std::string_view name) {
  return request("GET", fmt::format("{}/{}", collection(space, decisions), name), {}, true);
}

protocol::http_request find_decision_request(std::string_view name) {
  return request(
      "GET",
      fmt::format("/apis/{}/{}?fieldSelector=metadata.name%3D{}", api_version, decisions, name), {},
      true);
}

protocol::http_request list_decisions_request(std::string_view token) {
  auto target = fmt::format("/apis/{}/{}?limit={}", api_version, decisions, limits::page_size);
  if (!token.empty())
    target += fmt::format("&continue={}", escaped_query(token));
  return request("GET", std::move(target), {}, true);
}

protocol::http_request list_unfinished_request(std::string_view token) {
  auto x = list_decisions_request(token);
  x.target += fmt::format("&labelSelector={}", escaped_query(unfinished_mark));
  if (token.empty())
    x.target += "&resourceVersion=0";
  x.is_urgent = false;
  return x;
}

protocol::http_request delete_decision_request(std::string_view space, std::string_view name) {
  return request("DELETE", fmt::format("{}/{}", collection(space, decisions), name), {}, false);
}

protocol::http_request create_chunk_request(const chunk& x, const decision_object& of) {
  json::object body{
      {"apiVersion", text(api_version)},
      {"kind", "GangDecisionChunk"},
      {"metadata",
       {{"name", x.name},
        {"namespace", text(of.space())},
        {"ownerReferences", json::array{json::object{{"apiVersion", text(api_version)},
                                                     {"kind", "GangDecision"},
                                                     {"name", text(of.name())},
                                                     {"uid", text(of.uid())}}}}}},
      {"spec", {{"data", to_base64(x.data)}}}};
  return request("POST", collection(of.space(), chunks), json::serialize(body), false);
}

protocol::http_request get_chunk_request(std::string_view space, std::string_view name) {
  return request("GET", fmt::format("{}/{}", collection(space, chunks), name), {}, true);
}

protocol::http_request delete_chunk_request(std::string_view space, std::string_view name) {
  return request("DELETE", fmt::format("{}/{}", collection(space, chunks), name), {}, false);
}

} // namespace tutti::bridge
