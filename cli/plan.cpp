// The roles of a scheduler over the objects of files, and what they say as text.
#include "cli/plan.hpp"

#include <algorithm>
#include <cstdio>
#include <deque>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "actors/wiring.hpp"
#include "api/manifest.hpp"
#include "base/explanation.hpp"
#include "bridge/json_read.hpp"
#include "cli/cluster_objects.hpp"
#include "cli/exit_codes.hpp"
#include "cli/output.hpp"
#include "cli/role_host.hpp"
#include "cli/terminal_line.hpp"
#include "queue/memory.hpp"
#include "sim/api_server/control_plane.hpp"

namespace tutti::cli {

namespace {

namespace json = boost::json;
using protocol::role_kind;
using protocol::to;

/// Time that stands still: a plan must not depend on when it is asked for.
class still_clock final : public base::clock {
public:
  base::time_point now() const override { return base::time_point{std::chrono::seconds{1}}; }
  base::wall_time wall_now() const override { return {}; }
};

struct verdict {
  protocol::object_name name;
  std::size_t members = 0;
  std::string not_tried{}; ///< why the queue does not let it out, in words; empty = it was planned
  protocol::plan_ptr placement;
  base::explanation why_not;

  /// Who must go for it; empty if it fits without.
  std::vector<protocol::victim> victims() const {
    std::vector<protocol::victim> out;
    if (placement)
      for (const auto& part : placement->slices)
        out.insert(out.end(), part.victims.begin(), part.victims.end());
    return out;
  }
};

/// One line on stderr that is written anew while a person waits; nothing where nobody looks.
class progress {
public:
  explicit progress(const base::clock& clock)
      : clock_(clock), begun_(clock.now()), next_(begun_ + patience) {}

  void look(std::size_t planned) {
    const auto now = clock_.now();
    if (!line_.is_seen() || now < next_)
      return;
    const auto seconds = std::chrono::duration<double>(now - begun_).count();
    line_.show(fmt::format("{} gangs planned, {:.0f} a second", planned,
                           static_cast<double>(planned) / seconds));
    next_ = now + interval;
  }
  /// Takes the line away.
  void end() { line_.clear(); }

private:
  static constexpr auto patience = std::chrono::seconds{1};
  static constexpr auto interval = std::chrono::milliseconds{200};
  const base::clock& clock_;
  const base::time_point begun_;
  base::time_point next_;
  terminal_line line_;
};

/// The scheduler's own roles over the files' objects, without a coordinator: each gang that the
/// queue would try is planned by the topology, takes its room, and makes way for the next.
class planning {
public:
  planning(const plan_options& how, api::release spoken, sim::api_server::control_plane& api)
      : api_(api), host_([this](const auto& x) { return actors::make_hosted_role(x, options_); },
                         [this](const auto& from, const auto& whom, const auto& what) {
                           return intercept(from, whom, what);
                         },
                         [this](const auto& x) { return answer(x); }) {
    if (!how.levels.empty())
      options_.levels = how.levels;
    options_.spoken = api::newest_dialect_of(spoken);
    options_.lists_plainly = true;
    options_.planners = 0;
    for (auto& f : actors::make_founders(options_, {})) {
      const bool thinks = f.where.kind == role_kind::shard || f.where.kind == role_kind::topology
                          || f.where.kind == role_kind::queue || f.where.kind == role_kind::mirror
                          || f.where.kind == role_kind::preemption;
      if (thinks)
        host_.add(f.where, std::move(f.role));
    }
  }

  std::vector<verdict> run(progress& watcher) {
    host_.start();
    host_.run(); // the whole view is told before the first gang is planned
    while (!waiting_.empty()) {
      ask_next();
      host_.run();
      watcher.look(verdicts_.size());
    }
    watcher.end();
    host_.send(to(role_kind::admin), to(role_kind::queue), protocol::inspect{1, "gangs", {}});
    host_.run();
    add_untried();
    return std::move(verdicts_);
  }

private:
  /// The journey of a gang ends here with the topology's answer.
  bool intercept(const protocol::address&, const protocol::address& whom,
                 const protocol::message& what) {
    if (const auto* x = std::get_if<protocol::try_gang>(&what)) {
      waiting_.push_back(x->who);
      return true;
    }
    if (const auto* x = std::get_if<protocol::plan_answer>(&what);
        x && whom.kind == role_kind::gang) {
      if (x->placement || !seek_victims(*x))
        conclude(*x);
      return true;
    }
    if (const auto* x = std::get_if<protocol::victims_answer>(&what)) {
      conclude(with_victims(*x));
      return true;
    }
    if (const auto* x = std::get_if<protocol::inspected>(&what))
      rows_ = x->json;
    return whom.kind == role_kind::admin || whom.kind == role_kind::status;
  }

  /// One at a time and in the queue's order, as a lone scheduler with time on its hands would.
  void ask_next() {
    asked_ = waiting_.front();
    waiting_.pop_front();
    attempt_ = {asked_->uid, 1, {1}, ++tries_};
    host_.send(protocol::to_gang(asked_->uid), to(role_kind::topology),
               protocol::plan_request{attempt_, asked_});
  }

  /// As a gang does that finds no room. True if the answer is still to come.
  bool seek_victims(const protocol::plan_answer& refused) {
    const auto why = refused.why_not.primary;
    const bool may_help = why == base::reason_code::insufficient_resources
                          || why == base::reason_code::topology_too_fragmented
                          || why == base::reason_code::node_constraints_unmet;
    if (!may_help || !asked_ || refused.attempt != attempt_)
      return false;
    refused_ = refused;
    host_.send(protocol::to_gang(asked_->uid), to(role_kind::preemption),
               protocol::victims_wanted{attempt_, asked_, refused.why_not});
    return true;
  }

  protocol::plan_answer with_victims(const protocol::victims_answer& x) const {
    if (x.placement)
      return {x.attempt, x.placement, {}};
    auto out = refused_;
    if (x.refusal != base::reason_code::none)
      out.why_not.others.push_back(x.refusal);
    if (!x.why.detail.empty())
      out.why_not.detail += (out.why_not.detail.empty() ? "" : "; ") + x.why.detail;
    return out;
  }

  void conclude(const protocol::plan_answer& x) {
    if (!asked_ || x.attempt != attempt_)
      return;
    verdicts_.push_back({asked_->name, asked_->members.size(), {}, x.placement, x.why_not});
    protocol::attempt_over over{.attempt = attempt_};
    over.outcome =
        x.placement ? protocol::attempt_outcome::bound : protocol::attempt_outcome::refused;
    over.why = x.why_not;
    if (x.placement)
      for (const auto& part : x.placement->slices)
        for (const auto& seat : part.seats)
          over.members_bound.push_back(seat.pod);
    asked_ = nullptr;
    host_.send(to(role_kind::partition), to(role_kind::queue), std::move(over));
  }

  /// Lists are answered from the objects; a watch opens and stays silent.
  protocol::event answer(const protocol::exchange& x) {
    if (x.request.is_stream)
      return protocol::stream_opened{x.id};
    auto said = api_.handle({.method = x.request.method,
                             .target = x.request.target,
                             .body = x.request.body,
                             .content_type = x.request.content_type,
                             .accept = "application/json"});
    return protocol::answered{x.id, said.now.status, std::move(said.now.body)};
  }

  /// Gangs that the queue never lets out: too few members, gates, refusals.
  void add_untried() {
    boost::system::error_code ec;
    auto rows = json::parse(rows_, ec);
    if (ec || !rows.is_array())
      return;
    std::set<protocol::object_name> tried;
    for (const auto& v : verdicts_)
      tried.insert(v.name);
    for (const auto& r : rows.as_array()) {
      const auto& row = r.as_object();
      const protocol::object_name name{cell(row, "namespace"), cell(row, "name")};
      if (cell(row, "phase") == "Bound" || tried.contains(name))
        continue;
      verdict v{name, static_cast<std::size_t>(number(row, "members")), {}, nullptr, {}};
      v.why_not.detail = cell(row, "detail");
      v.why_not.primary = reason_named(cell(row, "reason"));
      v.not_tried = v.why_not.primary == base::reason_code::waiting_for_members
                        ? fmt::format("{} of the {} members that it needs are there", v.members,
                                      number(row, "min"))
                        : v.why_not.detail;
      if (v.not_tried.empty())
        v.not_tried = "the queue keeps it back";
      verdicts_.push_back(std::move(v));
    }
  }

  static base::reason_code reason_named(std::string_view name) {
    for (int i = 0; i <= static_cast<int>(base::reason_code::scheduler_error); ++i)
      if (base::name_of(static_cast<base::reason_code>(i)) == name)
        return static_cast<base::reason_code>(i);
    return base::reason_code::none;
  }

  actors::scheduler_options options_;
  sim::api_server::control_plane& api_;
  role_host host_;
  std::deque<protocol::gang_ptr> waiting_;
  protocol::gang_ptr asked_;
  protocol::plan_answer refused_; ///< while victims are sought
  base::attempt_id attempt_;
  std::uint64_t tries_ = 0;
  std::string rows_;
  std::vector<verdict> verdicts_;
};

int code_of(const verdict& v) {
  if (v.placement)
    return v.victims().empty() ? done : needs_preemption;
  return v.why_not.primary == base::reason_code::never_fits ? never : not_now;
}

/// "n1 n2×2 … 9 nodes": the first nodes by name, each with its members if it gets several.
std::string where_text(const protocol::plan& p) {
  std::map<std::string, int> per_node;
  for (const auto& s : p.slices)
    for (const auto& seat : s.seats)
      ++per_node[seat.node_name.value];
  std::string out;
  constexpr std::size_t shown = 6;
  std::size_t i = 0;
  for (const auto& [node, n] : per_node) {
    if (++i > shown) {
      out += fmt::format(" … {} nodes", per_node.size());
      break;
    }
    out += (out.empty() ? "" : " ") + node + (n > 1 ? fmt::format("×{}", n) : "");
  }
  return out;
}

const char* fits_text(const verdict& v) {
  if (v.placement)
    return v.victims().empty() ? "yes" : "evicting";
  if (!v.not_tried.empty())
    return "not tried";
  return code_of(v) == never ? "never" : "not now";
}

/// Why a gang has no seats, in a sentence.
std::string why_text(const verdict& v) {
  if (v.not_tried.empty())
    return base::to_text(v.why_not);
  return fmt::format("not tried, {}: {}", base::name_of(v.why_not.primary), v.not_tried);
}

/// Those that go together, in the order of the plan.
struct victim_unit {
  std::string name; ///< "podgroup ns/v" or "pod ns/p"
  std::int32_t priority = 0;
  std::vector<std::string> pods;
};

std::vector<victim_unit> units_of(const verdict& v) {
  std::map<std::uint32_t, victim_unit> by_number;
  for (const auto& x : v.victims()) {
    auto& unit = by_number[x.unit];
    unit.name = x.group.empty() ? "pod " + protocol::to_text(x.pod_name)
                                : fmt::format("podgroup {}/{}", x.pod_name.space, x.group);
    unit.priority = x.priority;
    unit.pods.push_back(x.pod_name.name);
  }
  std::vector<victim_unit> out;
  for (auto& [number, unit] : by_number)
    out.push_back(std::move(unit));
  return out;
}

/// Such are given the lowest priority there is.
bool is_leaving(const victim_unit& x) {
  return x.priority == std::numeric_limits<std::int32_t>::min();
}

std::size_t gangs_broken(const verdict& v) {
  std::set<base::gang_uid> out;
  for (const auto& x : v.victims())
    out.insert(x.gang);
  return out.size();
}

/// "evicts 3 pods of 2 gangs:" and a line for each that goes.
std::string victims_text(const verdict& v) {
  const auto pods = v.victims().size();
  const auto gangs = gangs_broken(v);
  auto out = fmt::format("evicts {} pod{} of {} gang{}:", pods, pods == 1 ? "" : "s", gangs,
                         gangs == 1 ? "" : "s");
  for (const auto& unit : units_of(v))
    out += fmt::format("\n  {}, {}{}", unit.name,
                       is_leaving(unit) ? "which is leaving already"
                                        : fmt::format("priority {}", unit.priority),
                       unit.pods.size() > 1 ? fmt::format(", {} pods", unit.pods.size()) : "");
  return out;
}

json::array victims_json(const verdict& v) {
  json::array out;
  for (const auto& unit : units_of(v))
    out.push_back(json::object{{"unit", unit.name},
                               {"priority", unit.priority},
                               {"pods", json::array(unit.pods.begin(), unit.pods.end())}});
  return out;
}

void print_table(const std::vector<verdict>& all) {
  table out{{"NAME", "MEMBERS", "FITS", "REASON", "WHERE"}};
  for (const auto& v : all) {
    const auto seats = v.placement ? v.placement->seat_count() : 0;
    out.add({protocol::to_text(v.name), fmt::format("{}/{}", seats, v.members), fits_text(v),
             v.placement ? "" : std::string{base::name_of(v.why_not.primary)},
             v.placement ? where_text(*v.placement) : ""});
  }
  std::fputs(out.text().c_str(), stdout);
  for (const auto& v : all)
    if (!v.placement)
      fmt::print("\n{}: {}\n", protocol::to_text(v.name), why_text(v));
    else if (!v.victims().empty())
      fmt::print("\n{}: {}\n", protocol::to_text(v.name), victims_text(v));
}

json::object object_of(const std::vector<verdict>& all) {
  json::array items;
  for (const auto& v : all) {
    json::object item{{"namespace", v.name.space},      {"name", v.name.name},
                      {"fits", v.placement != nullptr}, {"tried", v.not_tried.empty()},
                      {"exitCode", code_of(v)},         {"reason", nullptr}};
    if (v.placement) {
      json::array seats;
      for (const auto& s : v.placement->slices)
        for (const auto& seat : s.seats)
          seats.push_back(json::object{{"pod", seat.pod_name}, {"node", seat.node_name.value}});
      item["seats"] = std::move(seats);
      if (!v.victims().empty())
        item["victims"] = victims_json(v);
    } else {
      item["reason"] = base::name_of(v.why_not.primary);
      item["message"] = why_text(v);
      if (v.not_tried.empty())
        item["explanation"] = queue::to_json(v.why_not);
    }
    items.push_back(std::move(item));
  }
  return {{"apiVersion", "tutti.dev/v1"}, {"kind", "Plan"}, {"items", std::move(items)}};
}

void print(const std::vector<verdict>& all, const std::string& format) {
  if (format == "json")
    std::fputs(pretty_json(object_of(all)).c_str(), stdout);
  else if (format == "yaml")
    std::fputs(yaml_text(object_of(all)).c_str(), stdout);
  else if (format == "name")
    for (const auto& v : all)
      fmt::print("gang/{}\n", v.name.name);
  else
    print_table(all);
}

/// The objects of a plan, with where each comes from.
struct plan_input {
  std::vector<json::object> objects;
  std::vector<std::string> places;
  /// The newest release that every object belongs to: nodes belong to all, groups to one.
  api::release spoken = api::releases.front();
};

base::result<void> add_cluster(const api_flags& flags, const base::clock& clock, plan_input& into) {
  auto found = read_cluster(flags, clock);
  if (!found)
    return found.error();
  into.spoken = std::min(into.spoken, found->kubernetes);
  for (auto& x : found->all) {
    const auto& meta = x.at("metadata").as_object();
    const auto space = bridge::text_at(meta, "namespace");
    into.places.push_back(fmt::format("cluster, {} {}{}",
                                      std::string_view{x.at("kind").as_string()},
                                      space.empty() ? "" : std::string{space} + "/",
                                      std::string_view{meta.at("name").as_string()}));
    into.objects.push_back(std::move(x));
  }
  return {};
}

base::result<void> add_files(const std::vector<std::string>& files, plan_input& into) {
  auto read = api::read_manifests(files, {.kubernetes = std::nullopt});
  if (!read)
    return read.error();
  if (read->empty())
    return no_objects(files);
  for (auto& m : *read) {
    into.spoken = std::min(into.spoken, m.kubernetes);
    into.places.push_back(api::place_of(m));
    into.objects.push_back(std::move(m.object));
  }
  return {};
}

} // namespace

int run_plan(const plan_options& how, const base::clock& clock) {
  plan_input in;
  base::result<void> ok;
  if (how.cluster.names_config())
    ok = add_cluster(how.cluster, clock, in);
  if (ok && !how.files.empty())
    ok = add_files(how.files, in);
  if (!ok) {
    print_error(ok.error());
    return failed;
  }
  still_clock still;
  sim::api_server::control_plane::options o;
  o.kubernetes = in.spoken;
  sim::api_server::control_plane api{o, still};
  api.begin();
  if (auto applied = api.apply(in.objects, in.places); !applied) {
    print_error(applied.error());
    return failed;
  }
  progress watcher{clock};
  auto verdicts = planning{how, in.spoken, api}.run(watcher);
  print(verdicts, how.format);
  int worst = done;
  for (const auto& v : verdicts)
    worst = std::max(worst, code_of(v));
  return worst;
}

std::vector<planned_gang> plan_on(sim::api_server::control_plane& api, api::release spoken,
                                  const std::vector<std::string>& levels) {
  plan_options how;
  how.levels = levels;
  still_clock still;
  progress nobody_looks{still};
  std::vector<planned_gang> out;
  for (const auto& v : planning{how, spoken, api}.run(nobody_looks))
    out.push_back({v.name, v.placement && v.victims().empty(), v.why_not.primary});
  return out;
}

} // namespace tutti::cli
