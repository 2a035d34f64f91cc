#include "chaos/nemesis.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <utility>

#include "actors/replica.hpp"
#include "base/ensure.hpp"
#include "chaos/coverage.hpp"
#include "protocol/sharding.hpp"

namespace tutti::chaos {

namespace {

/// How long a watch that stalls holds back what comes while it does.
constexpr auto stall_step = std::chrono::milliseconds{1};

/// "pods" of "/api/v1/pods?watch=1".
std::string resource_of(std::string_view target) {
  const auto path = target.substr(0, target.find('?'));
  return std::string{path.substr(path.rfind('/') + 1)};
}

} // namespace

sim::world::options world_of(const schedule& what) {
  sim::world::options out;
  out.seed = what.seed;
  out.replicas = what.replicas;
  out.scheduler.shards = what.shards;
  out.scheduler.fast_path = what.fast_path;
  out.scheduler.evicts_degraded = what.evicts_degraded;
  if (what.log_is_objects)
    out.scheduler.log = actors::decision_log::objects;
  out.scheduler.seed = what.seed;
  out.scheduler.burst_pause = what.burst_pause; // 0: also the rarest order of facts is tried
  if (what.window > 0)
    out.scheduler.attempts_in_flight = out.scheduler.bindings_in_flight = what.window;
  out.api.plane.seed = what.seed;
  return out;
}

nemesis::nemesis(sim::world& on, const schedule& what) : on_(on), what_(what) {
  for (const auto& a : what_.actions)
    on_.time().at(base::time_point{} + a.at, [this, &a] { perform(a); });
  on_.time().at(base::time_point{} + what_.faults_until, [this] { heal(); });
  on_.api().judges(
      [this](const std::string&, const protocol::http_request& r) { return judge(r); });
  on_.links().judges([this](const std::string&, const std::string& to, std::string_view) {
    return judge_frame(to);
  });
  on_.api().judges_watches(
      [this](const std::string&, const std::string& target) { return judge_watch(target); });
}

nemesis::deed nemesis::deed_of(std::string_view what) {
  static const std::map<std::string_view, deed> all{
      {"node", &nemesis::node},
      {"node_gone", &nemesis::node_gone},
      {"cordon", &nemesis::cordon},
      {"gang", &nemesis::gang},
      {"gang_gone", &nemesis::gang_gone},
      {"group_gone", &nemesis::group_gone},
      {"group_again", &nemesis::group_again},
      {"pod_gone", &nemesis::pod_gone},
      {"pod_done", &nemesis::pod_done},
      {"min", &nemesis::min},
      {"foreign", &nemesis::foreign},
      {"cancel", &nemesis::cancel},
      {"crash", &nemesis::crash},
      {"crash_at", &nemesis::crash_at},
      {"restart", &nemesis::restart},
      {"pause", &nemesis::pause},
      {"kill_actor", &nemesis::kill_actor},
      {"kill_at", &nemesis::kill_at},
      {"late", &nemesis::late},
      {"clock", &nemesis::clock},
      {"disk_full", &nemesis::disk_full},
      {"sync_fails", &nemesis::sync_fails},
      {"slow_disk", &nemesis::slow_disk},
      {"corrupt", &nemesis::corrupt},
      {"cut_off", &nemesis::cut_off},
      {"link_cut", &nemesis::link_cut},
      {"link", &nemesis::link},
      {"alien", &nemesis::alien},
      {"api", &nemesis::api},
      {"api_down", &nemesis::api_down},
      {"watch_cut", &nemesis::watch_cut},
      {"watch_expired", &nemesis::watch_expired},
      {"watch_stall", &nemesis::watch_stall},
      {"watch_twice", &nemesis::watch_twice},
  };
  const auto pos = all.find(what);
  ensure(pos != all.end(), what);
  return pos->second;
}

void nemesis::perform(const action& x) {
  if (x.with.contains(std::string{when_key}))
    aimed_.push_back({&x, false});
  else
    happen(x);
}

/// What an action does may end processes and roles: never amid a step of one.
void nemesis::turn() {
  while (true) {
    const auto due =
        std::find_if(aimed_.begin(), aimed_.end(), [](const auto& a) { return a.is_due; });
    if (due == aimed_.end())
      return;
    const auto& x = *due->what;
    aimed_.erase(due);
    happen(x);
  }
}

void nemesis::happen(const action& x) {
  if (tell_)
    tell_(x, moment::comes);
  if (!(this->*deed_of(x.what))(x))
    return;
  ++done_[x.what];
  if (!waits_for_its_place(x))
    strikes(x);
}

void nemesis::strikes(const action& x) const {
  if (tell_)
    tell_(x, moment::strikes);
}

bool waits_for_its_place(const action& x) {
  return x.what == "crash_at" || x.what == "kill_at" || x.what == "late" || x.what == "api"
         || x.what == "link";
}

sim::process* nemesis::process(const action& x) const {
  return on_.find(x.target);
}

/// Whatever may still fail is called off, and whoever is down comes up.
void nemesis::heal() {
  aimed_.clear();
  awaited_.clear();
  down_.clear();
  stall_.clear();
  twice_.clear();
  expired_.clear();
  places_.clear();
  copies_.clear();
  frames_.clear();
  for (std::size_t n = 0; n < on_.processes(); ++n) {
    auto& p = on_.at(n);
    p.resume();
    p.disarm();
    p.slow_disk({});
    p.leave_free(UINT64_MAX);
    if (p.is_up())
      p.store().mend();
    on_.api().cut_off(p.name(), false);
    for (std::size_t other = 0; other < on_.processes(); ++other)
      on_.links().cut(on_.at(other).name(), p.name(), false);
    if (!p.is_up())
      on_.start_again(p, usual_outage);
  }
}

// ---------------------------------------------------------------- processes

bool nemesis::crash(const action& x) {
  auto* p = process(x);
  if (p == nullptr || !p->is_up())
    return false;
  p->crash(static_cast<std::size_t>(number(x, "kept")));
  if (text(x, "disk") == "lost")
    p->lose_disk();
  const auto down = time_of(x, "down");
  on_.start_again(*p, down > base::duration{0} ? down : usual_outage);
  return true;
}

bool nemesis::crash_at(const action& x) {
  auto* p = process(x);
  if (p == nullptr)
    return false;
  const auto pass = std::max<std::int64_t>(number(x, "pass"), 1);
  p->arm(text(x, "row"), static_cast<std::uint64_t>(pass),
         static_cast<std::size_t>(number(x, "kept")));
  return true;
}

bool nemesis::restart(const action& x) {
  auto* p = process(x);
  if (p == nullptr || !p->is_up() || p->is_paused() || p->is_stopping())
    return false;
  p->disarm();
  const auto down = time_of(x, "down");
  p->stop([this, p, down] { on_.start_again(*p, down > base::duration{0} ? down : usual_outage); });
  return true;
}

bool nemesis::pause(const action& x) {
  auto* p = process(x);
  if (p == nullptr || !p->is_up() || p->is_paused())
    return false;
  p->pause();
  on_.time().after(time_of(x, "for"), [p] { p->resume(); });
  return true;
}

bool nemesis::kill_actor(const action& x) {
  auto* p = process(x);
  return p != nullptr && p->kill(named(text(x, "role")));
}

bool nemesis::kill_at(const action& x) {
  const auto pass = std::max<std::int64_t>(number(x, "pass"), 1);
  places_.push_back({&x, static_cast<std::uint64_t>(pass), 0});
  return true;
}

bool nemesis::late(const action& x) {
  const auto nth = std::max<std::int64_t>(number(x, "nth"), 1);
  const auto count = std::max<std::int64_t>(number(x, "count"), 1);
  copies_.push_back({&x, static_cast<std::uint64_t>(nth), static_cast<std::uint64_t>(count - 1)});
  return true;
}

/// People know gangs and nodes by name, addresses know them by uid.
protocol::address nemesis::named(std::string_view role) const {
  using sim::api_server::kind_id;
  const auto open = role.find('(');
  const auto kind = role.substr(0, open);
  const auto name = open == std::string_view::npos
                        ? std::string{}
                        : std::string{role.substr(open + 1, role.find(')') - open - 1)};
  const auto& store = on_.api().plane().objects();
  if (kind == "node")
    if (const auto there = store.find(kind_id::nodes, name))
      return protocol::to_node({there->uid});
  if (kind == "gang" || kind == "coordinator")
    if (const auto there = store.find(kind_id::pod_groups, "default/" + name)) {
      const base::gang_uid gang{there->uid};
      return kind == "gang" ? protocol::to_gang(gang)
                            : protocol::to_partition(protocol::partition_of(gang));
    }
  return address_of(role);
}

void nemesis::stepped(sim::process& who, const protocol::address& where, const protocol::event&,
                      const protocol::effects& wanted) {
  if (!aimed_.empty()) {
    std::set<std::string_view> met;
    if (const auto* role = who.role(where))
      met = states_of(where, *role);
    for (const auto& w : wanted.list())
      if (const auto* x = std::get_if<protocol::exchange>(&w))
        met.insert(step_of(where, x->request));
    for (auto& a : aimed_)
      a.is_due |= met.contains(text(*a.what, when_key));
  }
  if (places_.empty() && copies_.empty())
    return;
  for (const auto& w : wanted.list()) {
    if (const auto* f = std::get_if<protocol::fault>(&w)) {
      const auto hit = std::find_if(places_.begin(), places_.end(), [&](auto& p) {
        return p.what->target == who.name() && text(*p.what, "row") == f->id && --p.left == 0;
      });
      if (hit != places_.end()) {
        strikes(*hit->what);
        places_.erase(hit);
        who.kill(where);
      }
    } else if (const auto* s = std::get_if<protocol::send>(&w)) {
      hear_again(who, where, *s);
    }
  }
}

/// A process that is alone begins with epoch 1 again when its disk is lost: words from before would
/// pass for words of now, and no message lives that long.
void nemesis::hear_again(sim::process& who, const protocol::address& from,
                         const protocol::send& what) {
  const auto kind = std::holds_alternative<protocol::prepare>(what.what)         ? "prepare"
                    : std::holds_alternative<protocol::abort_attempt>(what.what) ? "abort"
                                                                                 : "";
  const auto hit = std::find_if(copies_.begin(), copies_.end(), [&](auto& c) {
    const auto wanted = text(*c.what, "message");
    return c.what->target == who.name() && (wanted.empty() ? "prepare" : wanted) == kind
           && --c.left == 0;
  });
  if (hit == copies_.end())
    return;
  on_.time().after(time_of(*hit->what, "by"), [this, &who, &x = *hit->what, from, to = what.to,
                                               again = what.what, disks_lost = who.disks_lost()] {
    const bool is_of_another_disk = on_.processes() == 1 && who.disks_lost() != disks_lost;
    if (!who.is_up() || is_of_another_disk)
      return;
    strikes(x);
    who.replica()->routes().send(from, to, again);
  });
  hit->left = 1;
  if (hit->more-- == 0)
    copies_.erase(hit);
}

bool nemesis::clock(const action& x) {
  auto* p = process(x);
  if (p != nullptr)
    p->jump_wall_clock(time_of(x, "by"));
  return p != nullptr;
}

// ---------------------------------------------------------------- disks

bool nemesis::disk_full(const action& x) {
  auto* p = process(x);
  if (p == nullptr)
    return false;
  p->leave_free(0);
  if (const auto how_long = time_of(x, "for"); how_long > base::duration{0})
    on_.time().after(how_long, [p] { p->leave_free(UINT64_MAX); });
  return true;
}

bool nemesis::sync_fails(const action& x) {
  auto* p = process(x);
  if (p == nullptr || !p->is_up())
    return false;
  p->store().fail(persistence::memory_store::failure::sync_fails);
  return true;
}

bool nemesis::slow_disk(const action& x) {
  auto* p = process(x);
  if (p == nullptr)
    return false;
  p->slow_disk(time_of(x, "sync"));
  on_.time().after(time_of(x, "for"), [p] { p->slow_disk({}); });
  return true;
}

// ---------------------------------------------------------------- network and API server

bool nemesis::cut_off(const action& x) {
  on_.api().cut_off(x.target, true);
  on_.time().after(time_of(x, "for"), [this, name = x.target] { on_.api().cut_off(name, false); });
  return true;
}

bool nemesis::link_cut(const action& x) {
  const auto from = text(x, "from");
  if (on_.find(from) == nullptr || on_.find(x.target) == nullptr)
    return false;
  on_.links().cut(from, x.target, true);
  on_.time().after(time_of(x, "for"),
                   [this, from, to = x.target] { on_.links().cut(from, to, false); });
  return true;
}

bool nemesis::link(const action& x) {
  const auto nth = std::max<std::int64_t>(number(x, "nth"), 1);
  const auto count = std::max<std::int64_t>(number(x, "count"), 1);
  frames_.push_back({&x, static_cast<std::uint64_t>(nth), static_cast<std::uint64_t>(count - 1)});
  return on_.processes() > 1;
}

bool nemesis::api(const action& x) {
  const auto nth = std::max<std::int64_t>(number(x, "nth"), 1);
  awaited_.push_back({&x, static_cast<std::uint64_t>(nth), 0});
  return true;
}

bool nemesis::api_down(const action& x) {
  down_[x.target] = {on_.time().now() + time_of(x, "for"), &x};
  return true;
}

bool nemesis::watch_cut(const action& x) {
  on_.api().cut_watches({}, x.target);
  return true;
}

bool nemesis::watch_expired(const action& x) {
  expired_[x.target] = {on_.time().now() + time_of(x, "for"), &x};
  on_.api().cut_watches({}, x.target);
  return true;
}

bool nemesis::watch_stall(const action& x) {
  stall_[x.target] = {on_.time().now() + time_of(x, "for"), &x};
  return true;
}

bool nemesis::watch_twice(const action& x) {
  twice_[x.target] = {on_.time().now() + time_of(x, "for"), &x};
  return true;
}

sim::api_verdict nemesis::judge(const protocol::http_request& request) {
  const auto word = request_word(request.method, request.target);
  for (auto pos = awaited_.begin(); pos != awaited_.end(); ++pos)
    if (pos->what->target == word && --pos->left == 0) {
      const auto verdict = verdict_of(*pos->what);
      strikes(*pos->what);
      awaited_.erase(pos);
      return verdict;
    }
  const auto now = on_.time().now();
  if (word == "watch")
    if (const auto pos = expired_.find(resource_of(request.target));
        pos != expired_.end() && pos->second.until > now) {
      sim::api_verdict gone;
      gone.becomes = sim::api_verdict::what::answer;
      gone.status = 410;
      return gone;
    }
  if (const auto pos = down_.find(std::string{word}); pos != down_.end() && pos->second.until > now)
    return verdict_of(*pos->second.what);
  return {};
}

sim::frame_verdict nemesis::judge_frame(const std::string& to) {
  for (auto pos = frames_.begin(); pos != frames_.end(); ++pos) {
    if (pos->what->target != to || --pos->left > 0)
      continue;
    const auto& x = *pos->what;
    strikes(x);
    if (pos->more-- == 0)
      frames_.erase(pos);
    else
      pos->left = 1;
    const auto fate = text(x, "fate");
    return {.copies = fate == "lost" ? 0u : fate == "twice" ? 2u : 1u, .delay = time_of(x, "by")};
  }
  return {};
}

sim::watch_verdict nemesis::judge_watch(const std::string& target) const {
  const auto now = on_.time().now();
  const auto resource = resource_of(target);
  sim::watch_verdict out;
  if (const auto pos = stall_.find(resource); pos != stall_.end() && pos->second.until > now)
    out.delay = pos->second.until - now + stall_step;
  if (const auto pos = twice_.find(resource); pos != twice_.end() && pos->second.until > now)
    out.copies = 2;
  return out;
}

sim::api_verdict verdict_of(const action& x) {
  sim::api_verdict out;
  const auto becomes = text(x, "becomes");
  if (becomes == "lost")
    out.becomes = sim::api_verdict::what::lost;
  else if (becomes == "applied_lost")
    out.becomes = sim::api_verdict::what::applied_lost;
  else if (!becomes.empty())
    out.becomes = sim::api_verdict::what::answer;
  std::from_chars(becomes.data(), becomes.data() + becomes.size(), out.status);
  if (out.becomes == sim::api_verdict::what::answer && out.status < 400)
    out.status = 500;
  out.retry_after_s = number(x, "retry");
  out.is_silent = text(x, "silent") == "1";
  out.delay = time_of(x, "delay");
  return out;
}

protocol::address address_of(std::string_view text) {
  const auto open = text.find('(');
  const auto name = text.substr(0, open);
  auto inside = open == std::string_view::npos ? std::string_view{} : text.substr(open + 1);
  inside = inside.substr(0, inside.find(')'));
  for (int n = 0; n < protocol::role_kind_count; ++n) {
    protocol::address x{static_cast<protocol::role_kind>(n), 0, {}};
    const auto known = protocol::to_text(x);
    if (known.substr(0, known.find('(')) != name)
      continue;
    if (x.kind == protocol::role_kind::node || x.kind == protocol::role_kind::gang)
      x.key = inside;
    else
      std::from_chars(inside.data(), inside.data() + inside.size(), x.index);
    return x;
  }
  return protocol::to(protocol::role_kind::admin);
}

} // namespace tutti::chaos
