#include "chaos/small/collision.hpp"

#include "base/ensure.hpp"

namespace tutti::chaos::small {

namespace {

/// The first in order of what is wanted; nothing if there is none.
template <class Wanted>
bool deliver_one(world& x, Wanted wanted) {
  for (std::size_t n = 0; n < x.under_way().size(); ++n)
    if (x.is_deliverable(n) && wanted(*x.under_way()[n])) {
      x.deliver(n);
      return true;
    }
  return false;
}

template <class M>
bool says(const item& x) {
  const auto* heard = std::get_if<protocol::received>(&x.event);
  return x.what == item::kind::message && heard != nullptr
         && std::holds_alternative<M>(heard->what);
}

bool is_of(const item& x, std::size_t gang) {
  return x.from == place{protocol::to_gang(the_gang(gang))};
}

bool is_decided(const world& x, std::size_t gang) {
  return x.live_decision(gang) != nullptr;
}

} // namespace

world before_collision(const world::options& of) {
  ensure(of.log == log_kind::objects && of.gangs == gangs_most, of.gangs);
  world x{of};
  const auto is_last_look = [](const item& it) {
    return says<protocol::last_look>(it) && is_of(it, 0);
  };
  // The first gang has all its promises and does not look yet; the second one's questions are late.
  const auto may_come = [&](const item& it) {
    return !is_last_look(it) && !(says<protocol::prepare>(it) && is_of(it, 1));
  };
  while (deliver_one(x, may_come)) {
  }
  x.crash_one(home_of_shards);
  while (deliver_one(x, may_come)) { // until the shards have their views
  }
  while (!is_decided(x, 1) && deliver_one(x, [&](const item& it) { return !is_last_look(it); })) {
  }
  ensure(is_decided(x, 1) && !is_decided(x, 0));
  while (!is_decided(x, 0)
         && deliver_one(x, [](const item& it) { return !says<protocol::commit>(it); })) {
  }
  ensure(is_decided(x, 0) && is_decided(x, 1) && !x.broken());
  x.crash_one(home_of_shards);
  return x;
}

} // namespace tutti::chaos::small
