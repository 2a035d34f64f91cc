// Bounds of what a bridge that is a process of its own keeps, each with its reason.
#pragma once

#include <chrono>
#include <cstddef>

namespace tutti::bridge::limits {

/// Bytes of the last changes of one kind: minutes of a busy cluster, longer than any scheduler is
/// away whose link breaks.
inline constexpr std::size_t history_bytes_max = 64u << 20;
/// A watch that has not said for so long that it has reached a version is not waited for: in a
/// cluster that is worth sparing something changes all the time.
inline constexpr auto catch_up = std::chrono::milliseconds{250};

} // namespace tutti::bridge::limits
