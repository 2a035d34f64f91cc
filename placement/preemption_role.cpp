// Answers every question with no: eviction for gangs is not built.
#include "placement/preemption_role.hpp"

#include <variant>

namespace tutti::placement {

protocol::effects preemption_role::on(const protocol::event& e, base::time_point) {
  protocol::effects out;
  const auto* heard = std::get_if<protocol::received>(&e);
  const auto* wanted = heard ? std::get_if<protocol::victims_wanted>(&heard->what) : nullptr;
  if (wanted)
    out.tell(heard->from, protocol::victims_answer{wanted->attempt, nullptr,
                                                   base::reason_code::preemption_not_allowed});
  return out;
}

} // namespace tutti::placement
