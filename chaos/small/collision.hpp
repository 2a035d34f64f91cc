// A world in which two decided plans are about to collide: too rare among all orders to wait for.
#pragma once

#include "chaos/small/world.hpp"

namespace tutti::chaos::small {

/// Row P11. The shards have promised their room to the first gang and have lost that with their
/// process; so they have promised it to the second one, and both gangs are decided. The process has
/// died once more, and whoever begins the shards now will find both decisions. `of` has objects and
/// two gangs; two faults have happened.
world before_collision(const world::options& of);

} // namespace tutti::chaos::small
