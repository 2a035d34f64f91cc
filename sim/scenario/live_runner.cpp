#include "sim/scenario/live_runner.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <type_traits>

#include <boost/json.hpp>
#include <fmt/format.h>

namespace tutti::sim::scenario {

namespace {

using namespace std::chrono_literals;

constexpr auto sweep_patience = 60s;
/// Another scheduler is asked for what ours cannot do yet.
constexpr std::array<std::string_view, 2> needs_of_schedulers{"claims", "composite"};

template <class... Some>
struct overloaded : Some... {
  using Some::operator()...;
};

step_context context_of(const story& what) {
  return {what.speaks, std::filesystem::path{what.file}.parent_path().string()};
}

/// Steps of one round. Throws `bad_story`.
std::vector<step> one_round(const story& what, const repeat_step& x) {
  return read_steps(with_replaced(x.steps, x.word, "1"), context_of(what));
}

/// Collects what no live cluster can do or show.
class limits_of_steps {
public:
  explicit limits_of_steps(const story& what) : story_(what) {}

  void look_at(const std::vector<step>& steps) {
    for (const auto& s : steps)
      for (const auto& what : s.what)
        std::visit([this](const auto& one) { look_at(one); }, what);
  }
  const std::set<std::string>& found() const { return found_; }
  /// What a loose performance goes without.
  const std::set<std::string>& loosened() const { return loosened_; }

private:
  void look_at(const facts& all) {
    for (const auto& f : all)
      if (f->needed() == sight::mind)
        loosened_.insert(f->text().substr(0, f->text().find(':')));
      else if (f->needed() == sight::part)
        loosened_.insert("a fact in one_of");
  }
  void look_at(const expect_step& x) { look_at(x.what); }
  void look_at(const until_step& x) { look_at(x.what); }
  void look_at(const eventually_step& x) { look_at(x.what); }
  void look_at(const always_step& x) { look_at(x.what); }
  void look_at(const repeat_step& x) { look_at(one_round(story_, x)); }
  void look_at(const create_step& x) {
    for (const auto& w : x.objects) {
      if (!w.home.empty())
        found_.insert("a home for a group");
      if (api_server::look(w.object, {"spec", "runtimeClassName"}))
        found_.insert("a RuntimeClass");
    }
  }
  void look_at(const batch_step& x) {
    loosened_.insert("batch");
    look_at(x.steps);
  }
  void look_at(const hold_step&) { found_.insert("hold"); }
  void look_at(const release_step&) { found_.insert("release"); }
  void look_at(const api_step&) { found_.insert("api"); }
  void look_at(const watch_step&) { found_.insert("watch"); }
  void look_at(const crash_step&) { found_.insert("crash"); }
  void look_at(const start_step&) { found_.insert("start"); }
  void look_at(const pause_step&) { found_.insert("pause"); }
  void look_at(const network_step&) { found_.insert("network"); }
  void look_at(const clock_step&) { found_.insert("clock"); }
  // Everybody can do these.
  void look_at(const apply_step&) {}
  void look_at(const patch_step&) {}
  void look_at(const delete_step&) {}
  void look_at(const finish_step&) {}
  void look_at(const evict_step&) {}
  void look_at(const bind_step&) {}
  void look_at(const advance_step&) {}
  void look_at(const settle_step&) {}
  void look_at(const mark_step&) {}

  const story& story_;
  std::set<std::string> found_, loosened_;
};

base::duration least_time(const story& what, const std::vector<step>& steps) {
  base::duration out{};
  for (const auto& s : steps)
    for (const auto& a : s.what) {
      if (const auto* x = std::get_if<advance_step>(&a))
        out += x->by;
      else if (const auto* y = std::get_if<eventually_step>(&a))
        out += y->within;
      else if (const auto* z = std::get_if<repeat_step>(&a))
        out +=
            static_cast<int>(z->times) * std::max(z->every, least_time(what, one_round(what, *z)));
    }
  return out;
}

} // namespace

base::duration least_time(const story& what) {
  return least_time(what, what.steps);
}

live_limits limits_on_cluster(const story& what, const live_options& how) {
  live_limits limits;
  auto& out = limits.lacking;
  const auto& there = how.cluster;
  if (what.speaks.kubernetes != there.kubernetes)
    out.push_back(fmt::format("Kubernetes {}", api::name_of(what.speaks.kubernetes)));
  for (const auto& need : what.needs) {
    const bool is_for_schedulers =
        std::find(needs_of_schedulers.begin(), needs_of_schedulers.end(), need)
        != needs_of_schedulers.end();
    const bool is_there = need == "preemption"    ? true
                          : need == "controllers" ? there.has_controllers
                                                  : is_for_schedulers && !there.is_ours;
    if (!is_there)
      out.push_back(need);
  }
  for (const auto& gate : what.gates)
    out.push_back("gates." + gate);
  for (const auto& field : what.settings)
    out.push_back("config." + field);
  if (what.replicas > 1 || what.has_api_log)
    out.push_back("a world of its own");
  limits_of_steps steps{what};
  steps.look_at(what.steps);
  out.insert(out.end(), steps.found().begin(), steps.found().end());
  auto& rest = how.is_loose ? limits.left_out : out;
  rest.insert(rest.end(), steps.loosened().begin(), steps.loosened().end());
  if (const auto least = least_time(what); least > how.longest)
    out.push_back(fmt::format("{} s of real time",
                              std::chrono::duration_cast<std::chrono::seconds>(least).count()));
  return limits;
}

base::result<void> look_before(live_door& door, const live_options& how) {
  if (how.among_others)
    return {};
  cluster_copy copy{door, how.cluster.kubernetes};
  const auto foreign = find_foreign(copy, how.cluster.scheduler);
  if (!foreign)
    return foreign.error();
  if (!*foreign)
    return {};
  return base::error{base::code::bad_input,
                     fmt::format("this cluster is in use: {} was made by no scenario", **foreign),
                     "play scenarios on a cluster of their own, or say --among-others: what "
                     "scenarios have not made is left alone, but pods may be placed there"};
}

base::result<story_result> run_live_story(const story& what, live_door& door,
                                          const live_options& how, const expected_failures& known) {
  story_result out;
  out.file = what.file;
  out.id = what.id;
  out.title = what.title;
  out.is_live = true;
  if (const auto pos = known.find(what.id); pos != known.end())
    out.expected = pos->second;
  auto limits = limits_on_cluster(what, how);
  out.lacking = std::move(limits.lacking);
  out.left_out = std::move(limits.left_out);
  if (!out.lacking.empty()) {
    out.how = outcome::not_supported;
    return out;
  }
  const sweep_options cleaning{how.cluster.kubernetes, sweep_patience};
  if (auto ok = sweep(door, cleaning); !ok)
    return ok.error();
  const auto from = door.now();
  live_stage on{what, door, how.times};
  out.why = on.play();
  out.seeds = 1;
  const bool is_listed = !out.expected.empty();
  if (out.why)
    out.how = is_listed ? outcome::failed_as_expected : outcome::failed;
  else
    out.how = is_listed ? outcome::passed_unexpectedly : outcome::passed;
  out.took_ms = std::chrono::duration_cast<std::chrono::milliseconds>(door.now() - from).count();
  if (auto ok = sweep(door, cleaning); !ok)
    return ok.error();
  return out;
}

} // namespace tutti::sim::scenario
