// How a stage lets its world run: until when, and what is looked at on the way.
#include <algorithm>
#include <cmath>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "base/limits.hpp"
#include "sim/scenario/stage.hpp"

namespace tutti::sim::scenario {

namespace {

/// Pods that stay longer than this after their deletion never go.
constexpr base::duration longest_grace = std::chrono::hours{24};
/// Longer than the longest timer of a healthy scheduler that is no back-off: a gang is called
/// degraded after the repair deadline.
constexpr base::duration least_rest = base::limits::repair_deadline + std::chrono::seconds{5};

/// Where nothing happens, whoever waits looks around so often.
constexpr base::duration longest_silence = std::chrono::seconds{1};

bool flag_at(const boost::json::value& x, std::string_view name) {
  const auto* found = x.is_object() ? x.get_object().if_contains(name) : nullptr;
  return found && found->is_bool() && found->get_bool();
}

} // namespace

bool stage::run_until(base::time_point deadline, const std::function<bool()>& is_enough) {
  for (;;) {
    if (is_enough && is_enough())
      return true;
    const auto limit = std::min(deadline, now() + longest_silence);
    const bool has_stepped = world_->step(limit);
    replace_deleted();
    check_safety();
    check_always();
    if (!has_stepped && limit == deadline)
      return is_enough && is_enough();
  }
}

void stage::check_safety() {
  scene_->violations = safety_->violations().size();
  if (!safety_->violations().empty())
    give_up("invariant", safety_->violations().front());
  if (!counts_->alarms().empty())
    give_up("no role calls for a human", counts_->alarms().front());
}

void stage::check_always() {
  if (always_.empty())
    return;
  std::erase_if(always_, [this](const live_always& x) { return x.until && *x.until < now(); });
  const bool has_changed = looked_at_ != scene_->objects().last();
  looked_at_ = scene_->objects().last();
  for (const auto& x : always_)
    for (const auto& f : x.what)
      if (has_changed || !f->is_of_api_alone())
        if (const auto found = f->look(*scene_)) {
          const auto what = fmt::format("always {} (line {})", f->text(), x.line);
          always_.clear();
          give_up(what, *found);
        }
}

// ---------------------------------------------------------------- settled

/// Twice the longest back-off, which grows with the largest gang.
base::duration stage::rest_needed() const {
  std::map<std::string, std::size_t> sizes;
  std::size_t largest = 1;
  for (const auto& [key, pod] : scene_->objects().all(api_server::kind_id::pods))
    if (!pod->group.empty() && pod->node_name.empty())
      largest = std::max(largest, ++sizes[fmt::format("{}/{}", pod->ns(), pod->group)]);
  const auto longest = std::chrono::duration<double>(base::limits::backoff_cap)
                       * std::sqrt(static_cast<double>(largest));
  return std::max(least_rest, 2 * std::chrono::duration_cast<base::duration>(longest));
}

/// Whoever rests there was refused on this very state.
bool stage::is_quiet(process& who) {
  if (!who.is_up())
    return true; // until somebody starts it
  const auto text = who.inspect(protocol::to(protocol::role_kind::queue), "quiet", {});
  boost::system::error_code failed;
  return !text.empty() && flag_at(boost::json::parse(text, failed), "quiet");
}

/// Every process has seen the cluster, and every shard and partition has its owner.
bool stage::is_running() {
  if (!scene_->is_shared_out())
    return false;
  for (std::size_t n = 0; n < world_->processes(); ++n)
    if (!is_quiet(world_->at(n)))
      return false;
  return true;
}

/// No write of a scheduler but events and leases, no change of the cluster, no new attempt, for
/// twice the longest back-off; and nothing under way that could end that.
bool stage::is_settled() {
  if (now() - counts_->last_activity() < least_rest)
    return false;
  if (now() - counts_->last_activity() < rest_needed())
    return false;
  if (paused_ > 0 || faults_->is_stalling() || world_->api().under_way() > 0)
    return false;
  const auto stands = [](const live_hold& h) { return h.who != nullptr; };
  const auto goes_on = [](const live_hold& h) { return h.who != nullptr && h.how_long; };
  if (std::any_of(holds_.begin(), holds_.end(), goes_on))
    return false;
  const bool somebody_stands = std::any_of(holds_.begin(), holds_.end(), stands);
  const auto kubelets = world_->api().plane().next_deadline();
  if (kubelets && *kubelets < now() + longest_grace)
    return false;
  for (std::size_t n = 0; n < world_->processes(); ++n)
    if (world_->at(n).runnable() > 0 || (!somebody_stands && !is_quiet(world_->at(n))))
      return false;
  return true;
}

} // namespace tutti::sim::scenario
