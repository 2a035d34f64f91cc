// The edges of an attempt, and the phase that people see.
#include "protocol/attempt_state.hpp"

namespace tutti::protocol {

std::string_view name_of(attempt_state x) {
  switch (x) {
  case attempt_state::planning:
    return "planning";
  case attempt_state::seeking_victims:
    return "seeking_victims";
  case attempt_state::preparing:
    return "preparing";
  case attempt_state::looking:
    return "looking";
  case attempt_state::deciding:
    return "deciding";
  case attempt_state::committing:
    return "committing";
  case attempt_state::evicting:
    return "evicting";
  case attempt_state::binding:
    return "binding";
  case attempt_state::withdrawing:
    return "withdrawing";
  case attempt_state::finishing:
    return "finishing";
  case attempt_state::over:
    return "over";
  }
  return "?";
}

phase phase_of(attempt_state x) {
  switch (x) {
  case attempt_state::planning:
  case attempt_state::seeking_victims:
    return phase::planning;
  case attempt_state::preparing:
  case attempt_state::looking:
  case attempt_state::deciding:
    return phase::preparing;
  case attempt_state::committing:
    return phase::decided;
  case attempt_state::evicting:
    return phase::evicting;
  case attempt_state::binding:
    return phase::binding;
  case attempt_state::withdrawing:
    return phase::withdrawing;
  case attempt_state::finishing:
  case attempt_state::over:
    return phase::bound;
  }
  return phase::planning;
}

} // namespace tutti::protocol
