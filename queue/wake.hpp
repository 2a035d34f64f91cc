// Which event may help which waiting gang: nobody is tried again for nothing.
#pragma once

#include "base/explanation.hpp"
#include "base/resources.hpp"
#include "queue/registry.hpp"

namespace tutti::queue {

/// True if at least one pending member fits into `most_free`, each amount on its own: a cheap test
/// that never says no to a gang that could be placed now, and so never loses a wake-up.
bool may_fit(const gang_entry& g, const base::resources& most_free);

/// True if a change of the group may let an attempt succeed that failed before: a smaller minimum
/// (Q-26; a larger one never, Q-27), another topology key, a higher priority, a refusal lifted.
bool may_help(const protocol::group_facts& before, const protocol::group_facts& after);

/// True if pods that arrive somewhere may help: affinity to other pods or spreading ruled nodes
/// out. Everything else is helped by room only, of which `view_grew` tells.
bool is_helped_by_arrivals(const base::explanation& why);

/// True if the refusal says nothing about the cluster but that nobody could look: no event will
/// tell when somebody can, so time must.
bool is_passing(const base::explanation& why);

/// True if an attempt that was bound has said of the members it left out why they do not fit: to
/// try them at once would only bring the same answer.
bool explains_the_rest(const base::explanation& why);

} // namespace tutti::queue
