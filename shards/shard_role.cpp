// Takes each event to its handler, and says at the end what changed.
#include "shards/shard_role.hpp"

#include "base/ensure.hpp"

namespace tutti::shards {

using namespace protocol;

effects shard_role::on(const event& e, base::time_point now) {
  ensure(now_ <= now);
  now_ = now;
  out_ = {};
  if (const auto* replay = std::get_if<replayed>(&e)) {
    on_replayed(replay->what);
  } else if (const auto* start = std::get_if<started>(&e)) {
    on_started(*start);
  } else if (const auto* message = std::get_if<received>(&e)) {
    ensure(is_started_, how_.shard.value);
    from_ = message->from;
    std::visit([this](const auto& m) { hear(m); }, message->what);
    // While a slice is being gathered its nodes tell one by one; the topology hears of all at once.
    const auto* answer = std::get_if<held>(&message->what);
    if (answer != nullptr && gatherings_.contains(answer->attempt))
      return std::move(out_);
  } else if (const auto* timer = std::get_if<timer_fired>(&e)) {
    on_timer(timer->timer);
  } else if (const auto* child = std::get_if<child_died>(&e)) {
    if (child->where.kind == role_kind::node)
      on_child_died({child->where.key});
  } else if (const auto* disk = std::get_if<disk_told>(&e)) {
    on_disk(*disk);
  }
  tell_idle();
  tell_view();
  return std::move(out_);
}

} // namespace tutti::shards
