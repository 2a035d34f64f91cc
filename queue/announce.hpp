// What the API server is told about a gang that cannot be scheduled: conditions and one event.
#pragma once

#include <string>

#include "base/explanation.hpp"
#include "protocol/effects.hpp"
#include "queue/options.hpp"
#include "queue/registry.hpp"

namespace tutti::queue {

/// After a refused attempt: the group's condition False/Unschedulable, PodScheduled
/// False/Unschedulable on each pending member, and a FailedScheduling event on the root object.
/// Each only if its text is not the one told last. A group whose condition is True keeps it (M-1).
/// Where groups are no objects, the event is on each pending member instead.
void announce_refusal(gang_entry& g, const base::explanation& why, const options& how,
                      protocol::effects& out);

/// A gang that is broken as it is (O-7): the same with reason SchedulerError.
void announce_error(gang_entry& g, const std::string& text, const options& how,
                    protocol::effects& out);

/// A gang that may not be tried, for want of members, of its group, or because of gates: what a
/// refusal tells. Once it has started its group says nothing more of it until the repair deadline:
/// the members that wait have the condition and the event, as where there is no group. Nothing
/// while its group is being deleted or its members are evicted, and nothing of lone pods: their
/// gates are seen by all.
void announce_gated(gang_entry& g, const options& how, protocol::effects& out);

} // namespace tutti::queue
