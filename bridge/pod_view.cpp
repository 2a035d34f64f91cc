// Reads of a pod only what a decision about it needs.
#include "bridge/pod_view.hpp"

#include <algorithm>
#include <charconv>

#include <boost/json/array.hpp>
#include <fmt/core.h>

#include "bridge/json_read.hpp"

namespace tutti::bridge {
namespace {

template <class Number>
bool read_number(std::string_view text, Number& out) {
  const auto* end = text.data() + text.size();
  const auto [rest, ec] = std::from_chars(text.data(), end, out);
  return ec == std::errc{} && rest == end;
}

bool contains(const boost::json::value& whole, const boost::json::value& part) {
  if (const auto* wanted = part.if_object()) {
    const auto* there = whole.if_object();
    return there && std::all_of(wanted->begin(), wanted->end(), [&](const auto& member) {
             const auto* found = there->if_contains(member.key());
             return found ? contains(*found, member.value()) : member.value().is_null();
           });
  }
  if (const auto* wanted = part.if_array()) {
    const auto* there = whole.if_array();
    return there && std::all_of(wanted->begin(), wanted->end(), [&](const auto& element) {
             return std::any_of(there->begin(), there->end(),
                                [&](const auto& x) { return contains(x, element); });
           });
  }
  return whole == part;
}

} // namespace

std::string to_text(const fence& x) {
  return fmt::format("{}/{}", x.partition.value, x.epoch.value);
}

std::optional<fence> fence_of(std::string_view text) {
  const auto slash = text.find('/');
  if (slash == std::string_view::npos)
    return std::nullopt;
  fence out;
  if (!read_number(text.substr(0, slash), out.partition.value)
      || !read_number(text.substr(slash + 1), out.epoch.value))
    return std::nullopt;
  return out;
}

std::optional<pod_view> read_pod_view(std::string_view body) {
  const parsed_json read{body};
  const auto* object = read.object();
  const auto* meta = object ? object_at(*object, "metadata") : nullptr;
  if (!meta || text_at(*meta, "uid").empty())
    return std::nullopt;
  pod_view out;
  out.uid = text_at(*meta, "uid");
  out.resource_version = text_at(*meta, "resourceVersion");
  out.is_deleting = !text_at(*meta, "deletionTimestamp").empty();
  if (const auto* notes = object_at(*meta, "annotations")) {
    out.touch = text_at(*notes, touch_annotation);
    out.fenced = fence_of(text_at(*notes, fence_annotation));
  }
  if (const auto* spec = object_at(*object, "spec")) {
    out.node = text_at(*spec, "nodeName");
    const auto* gates = array_at(*spec, "schedulingGates");
    out.is_gated = gates && !gates->empty();
  }
  if (const auto* status = object_at(*object, "status")) {
    const auto phase = text_at(*status, "phase");
    out.is_terminal = phase == "Succeeded" || phase == "Failed";
  }
  return out;
}

bool json_contains(std::string_view whole, std::string_view part) {
  const parsed_json there{whole};
  const parsed_json wanted{part};
  return there.value() && wanted.value() && contains(*there.value(), *wanted.value());
}

} // namespace tutti::bridge
