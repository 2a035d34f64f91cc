// What a writer must see of a pod that the server answered with.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/ids.hpp"

namespace tutti::bridge {

/// Annotations by which we sign what we write.
inline constexpr std::string_view attempt_annotation = "tutti.dev/attempt";
inline constexpr std::string_view epoch_annotation = "tutti.dev/epoch";
/// "partition/epoch": a higher epoch stops older writers of that partition (rule 7).
inline constexpr std::string_view fence_annotation = "tutti.dev/fence";
/// Distinct for every touch: a patch that changes nothing would leave the resourceVersion alone,
/// and a Binding prepared before it would still be accepted.
inline constexpr std::string_view touch_annotation = "tutti.dev/touch";

/// The fence that stands on a pod.
struct fence {
  base::partition_id partition;
  base::epoch_no epoch;

  friend bool operator==(const fence&, const fence&) = default;
};
std::string to_text(const fence& x);
/// Nothing if `text` is not "number/number".
std::optional<fence> fence_of(std::string_view text);

struct pod_view {
  std::string uid;
  std::string resource_version;
  std::string node; ///< empty = not bound
  std::string touch;
  std::optional<fence> fenced;
  bool is_deleting = false;
  bool is_terminal = false;
  bool is_gated = false;
};

/// Reads a Pod as the server answered it. Nothing if `body` is no JSON object with a uid: then the
/// answer says nothing about the pod.
std::optional<pod_view> read_pod_view(std::string_view body);

/// Everything in `part` is also in `whole`: members of objects, and for lists some element that
/// contains it. How a write is known to have happened. False if either is no JSON.
bool json_contains(std::string_view whole, std::string_view part);

} // namespace tutti::bridge
