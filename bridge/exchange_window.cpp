// Who is ready, who waits, and whose exchange is open.
#include "bridge/exchange_window.hpp"

#include <algorithm>

#include "base/ensure.hpp"

namespace tutti::bridge {

void exchange_window::enqueue(std::uint64_t request, bool is_first) {
  if (is_first)
    ready_.push_front(request);
  else
    ready_.push_back(request);
}

void exchange_window::later(std::uint64_t request, base::duration wait, protocol::effects& out) {
  out.add(protocol::arm{{retry_timer, request}, wait});
}

void exchange_window::pause(base::duration wait, base::time_point now, protocol::effects& out) {
  ensure(wait.count() >= 0, wait.count());
  if (now + wait <= paused_until_)
    return;
  paused_until_ = now + wait;
  out.add(protocol::arm{{pause_timer, 0}, wait});
}

std::optional<std::uint64_t> exchange_window::close(std::uint64_t id) {
  const auto pos = open_.find(id);
  if (pos == open_.end())
    return std::nullopt;
  const auto request = pos->second;
  open_.erase(pos);
  return request;
}

bool exchange_window::on_timer(const protocol::timer_id& timer) {
  if (timer.kind == retry_timer)
    enqueue(timer.key, true);
  return timer.kind == retry_timer || timer.kind == pause_timer;
}

bool exchange_window::is_open(std::uint64_t request) const {
  return std::any_of(open_.begin(), open_.end(),
                     [request](const auto& x) { return x.second == request; });
}

} // namespace tutti::bridge
