// Takes the snapshot from the board, searches with wide bounds, and answers.
#include "placement/planner_role.hpp"

#include <utility>
#include <variant>

#include "base/ensure.hpp"
#include "placement/convert.hpp"
#include "placement/engine/plan.hpp"

namespace tutti::placement {

planner_role::planner_role(planner_options how) : how_(std::move(how)) {
  ensure(how_.board != nullptr && how_.shards > 0, how_.shards);
}

protocol::effects planner_role::on(const protocol::event& e, base::time_point) {
  protocol::effects out;
  const auto* heard = std::get_if<protocol::received>(&e);
  const auto* request = heard ? std::get_if<protocol::plan_request>(&heard->what) : nullptr;
  if (!request)
    return out;
  auto search = how_.board->take(request->attempt);
  if (!search)
    return out;
  const engine::options bounds{long_search_steps, long_search_domains};
  auto found = engine::plan(search->where, search->what, bounds, memory_);
  protocol::plan_answer answer{request->attempt, nullptr, {}};
  if (auto* p = std::get_if<engine::placement>(&found)) {
    answer.placement = plan_of(*request->who, *p, search->where, how_.shards, search->view_version);
  } else {
    answer.why_not = std::move(std::get<base::explanation>(found));
    answer.why_not.view_version = search->view_version;
  }
  out.tell(protocol::to(protocol::role_kind::topology), std::move(answer));
  return out;
}

} // namespace tutti::placement
