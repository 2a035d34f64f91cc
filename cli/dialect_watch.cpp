#include "cli/dialect_watch.hpp"

#include <chrono>

#include <fmt/core.h>

#include "cli/output.hpp"

namespace tutti::cli {

using namespace std::chrono_literals;
using base::code;
using base::error;

namespace {

constexpr auto interval = 20s;
/// One that starts may answer before it serves everything.
constexpr int misses_most = 3;

} // namespace

std::optional<error> dialect_watch::judge(const cluster_facts& found) {
  const auto ours = api::api_version_of(spoken_);
  if (found.serves(spoken_)) {
    misses_ = 0;
    is_away_ = false;
    return std::nullopt;
  }
  if (++misses_ < misses_most)
    return std::nullopt;
  if (const auto other = found.spoken())
    return error{
        code::unavailable,
        fmt::format("the API server speaks of groups of pods in {} now, and not in {} any more",
                    api::api_version_of(*other), ours),
        "start again: what is decided is kept"};
  if (!is_away_)
    print_warning({code::unavailable,
                   fmt::format("the API server does not serve groups of pods in {} any more", ours),
                   "gangs wait until it does again"});
  is_away_ = true;
  return std::nullopt;
}

std::optional<error> dialect_watch::look(base::time_point now) {
  if (asked_) {
    if (asked_->wait_for(0s) != std::future_status::ready)
      return std::nullopt;
    const auto found = asked_->get();
    asked_.reset();
    due_ = now + interval;
    return found ? judge(*found) : std::nullopt; // one that does not answer says nothing
  }
  if (!due_)
    due_ = now + interval;
  if (now >= *due_ && door_.is_open())
    asked_ = door_.begin_asking();
  return std::nullopt;
}

} // namespace tutti::cli
