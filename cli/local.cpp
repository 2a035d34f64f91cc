// The parts of `tutti local`, started in order and stopped in the opposite one.
#include "cli/local.hpp"

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <future>
#include <optional>
#include <thread>

#include <fmt/core.h>
#include <unistd.h>

#include <boost/json.hpp>

#include "actors/admin_api.hpp"
#include "actors/scheduler.hpp"
#include "api/dialect.hpp"
#include "api/manifest.hpp"
#include "api/release.hpp"
#include "base/ensure.hpp"
#include "base/fault_point.hpp"
#include "base/seed.hpp"
#include "bridge/http_client.hpp"
#include "cli/daemon.hpp"
#include "cli/dialect_watch.hpp"
#include "cli/doorkeeper.hpp"
#include "cli/output.hpp"
#include "cli/reading.hpp"
#include "cli/rights_watch.hpp"
#include "cli/server_door.hpp"
#include "cli/terminal_line.hpp"
#include "persistence/rocks_store.hpp"
#include "sim/api_server/server.hpp"

namespace tutti::cli {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using base::code;
using base::error;

/// How often the main thread looks for signals and for the settled state.
constexpr auto look_interval = 20ms;
/// Settled means: nothing to do in so many looks in a row, so that a message between two actors is
/// not mistaken for silence.
constexpr int quiet_looks = 3;
/// How often the line of progress is written anew: a person reads no faster.
constexpr auto progress_interval = 1s;
/// How often missing rights are looked for.
constexpr auto rights_interval = 1s;
/// How long the start waits for an API server's word on who it is before it goes on without.
constexpr auto greeting_patience = 5s;
/// Without --kubernetes.
constexpr const char* newest_release = "1.37";

volatile std::sig_atomic_t signalled = 0;
void on_signal(int) {
  signalled = 1;
}

/// What the admin address says of the whole process, kept up to date by the main thread.
std::atomic<bool> is_settled{false};

/// The scheduler that the fault hook describes before it dies; set while it runs.
std::atomic<actors::scheduler*> dying{nullptr};

actors::process_view view_of_process() {
  return {TUTTI_VERSION, [] { return is_settled.load(); }};
}

/// Phase counts as JSON, for progress and for the last words at a fault point.
std::string phases_text(actors::scheduler& who) {
  const auto reply = actors::answer_admin(who, view_of_process(), "GET", "/api/status");
  boost::system::error_code ec;
  auto parsed = boost::json::parse(reply.body, ec);
  if (ec || !parsed.is_object() || !parsed.as_object().contains("phases"))
    return {};
  return boost::json::serialize(parsed.as_object().at("phases"));
}

void say_last_words(std::string_view id) {
  if (auto* who = dying.load())
    fmt::print(stderr, "fault point {}: dying with {}\n", id, phases_text(*who));
}

/// What ended the run: the first error that any thread reports.
class ending {
public:
  void report(const error& e) {
    if (!is_over_.exchange(true))
      promise_.set_value(e);
  }
  std::optional<error> within(std::chrono::milliseconds patience) {
    if (coming_.wait_for(patience) != std::future_status::ready)
      return std::nullopt;
    return coming_.get();
  }

private:
  std::atomic<bool> is_over_{false};
  std::promise<error> promise_;
  std::future<error> coming_ = promise_.get_future();
};

/// A directory that is removed with everything in it, or one of the user's that stays.
class data_home {
public:
  static base::result<data_home> open(const std::string& wanted) {
    std::error_code ec;
    if (wanted.empty()) {
      auto text = (fs::temp_directory_path(ec) / "tutti-XXXXXX").string();
      if (ec || ::mkdtemp(text.data()) == nullptr)
        return error{code::io, "cannot make a temporary directory",
                     "set TMPDIR to a writable directory, or give --data-dir"};
      return data_home{text, true};
    }
    fs::create_directories(wanted, ec);
    if (ec || ::access(wanted.c_str(), W_OK | X_OK) != 0)
      return error{code::io,
                   fmt::format("--data-dir {}: {}", wanted,
                               ec ? ec.message() : "the directory is not writable"),
                   "choose a directory that this user may write"};
    return data_home{wanted, false};
  }
  data_home(data_home&& x) noexcept
      : path_(std::move(x.path_)), is_ours_(std::exchange(x.is_ours_, false)) {}
  ~data_home() {
    std::error_code ignored;
    if (is_ours_)
      fs::remove_all(path_, ignored);
  }
  std::string sub(const char* name) const { return (path_ / name).string(); }

private:
  data_home(fs::path path, bool is_ours) : path_(std::move(path)), is_ours_(is_ours) {}
  fs::path path_;
  bool is_ours_ = false;
};

/// The parts of the process, in the order in which they come up; destroyed in the opposite one.
struct running {
  ending end; ///< outlives everybody who may report
  std::unique_ptr<sim::api_server::server> api;
  std::unique_ptr<persistence::store> store;
  std::unique_ptr<doorkeeper> door;
  std::unique_ptr<actors::tcp_links> links; ///< null: this process is alone
  std::unique_ptr<actors::scheduler> scheduler;
  std::atomic<actors::scheduler*> asked{nullptr}; ///< at the admin address; null while it starts
  std::unique_ptr<actors::http_listener> admin;

  ~running() {
    if (links)
      links->end(); // its thread speaks to the scheduler, which goes first
  }
};

std::string release_of(const local_options& how) {
  return how.kubernetes.empty() ? newest_release : how.kubernetes;
}

base::result<void> start_api(running& all, const local_options& how, const data_home& home,
                             const base::clock& clock) {
  sim::api_server::server::options o;
  o.data_dir = home.sub("api");
  o.disk_reserve = how.disk_reserve;
  o.kubernetes = release_of(how);
  o.seed = how.seed;
  if (!how.listen.empty()) {
    auto where = actors::parse_host_port(how.listen);
    if (!where)
      return where.error().in("--listen");
    o.listen = sim::api_server::listen_address{where->host, where->port};
  }
  auto opened = sim::api_server::server::open(o, clock);
  if (!opened)
    return opened.error();
  all.api = std::move(*opened);
  if (!how.listen.empty() && !how.quiet)
    fmt::print(stderr, "API server (Kubernetes {}) on http://{}:{}\n", o.kubernetes, o.listen->host,
               all.api->port());
  return {};
}

/// By way of a bridge, which has the credentials and the budget of writes.
base::result<void> open_bridge_door(running& all, const local_options& how,
                                    const base::clock& clock) {
  const auto name = "bridge " + how.replica.bridge;
  auto opened = doorkeeper::open_with(
      [&](doorkeeper::failure_ear failed) {
        return open_line(how.replica, bridge::this_machine(clock), std::move(failed),
                         [name, quiet = how.quiet](const error* why) {
                           if (!quiet)
                             fmt::print(stderr, "{}: {}\n", name,
                                        why == nullptr ? "up" : "down, " + why->message());
                         });
      },
      {name, "look at host and port, and at the bridge: its /readyz says what it waits for"},
      clock);
  if (!opened)
    return opened.error();
  all.door = std::move(*opened);
  if (!how.quiet)
    fmt::print(stderr, "API server by {} ({})\n", name,
               how.replica.tls_dir.empty() ? "plain" : "TLS");
  return {};
}

/// Where the scheduler's bytes go: into this process, or to a server elsewhere.
base::result<void> open_door(running& all, const local_options& how, const base::clock& clock) {
  if (!how.is_elsewhere()) {
    all.door = std::make_unique<doorkeeper>(
        bridge::connect_by_descriptor([api = all.api.get()] { return api->connect(); }),
        bridge::http_client::options{},
        doorkeeper::words{"the embedded server", "the machine is busy; try again"}, clock);
    return {};
  }
  if (!how.replica.bridge.empty())
    return open_bridge_door(all, how, clock);
  auto opened = open_server_door({.where = how.elsewhere,
                                  .qps = how.qps,
                                  .burst = how.burst,
                                  .quiet = how.quiet,
                                  .names_server = how.is_replica || how.elsewhere.server.empty()},
                                 clock, [] { return signalled != 0; });
  if (!opened)
    return opened.error();
  all.door = std::move(*opened);
  return {};
}

/// `asked` is --kubernetes, `found` what the server says.
base::result<void> check_release(const std::string& asked, const std::string& found) {
  if (asked.empty() || asked == found)
    return {};
  return error{code::bad_input,
               fmt::format("the API server is Kubernetes {}, not {}", found, asked),
               fmt::format("use --kubernetes {}", found)};
}

/// The dialect that the server is spoken to in.
base::result<api::dialect> dialect_for(const cluster_facts& found, const local_options& how) {
  if (auto ok = check_release(how.kubernetes, found.kubernetes); !ok)
    return ok.error();
  if (const auto spoken = found.spoken())
    return *spoken;
  return error{
      code::bad_input,
      fmt::format("the API server is Kubernetes {} and serves no groups of pods", found.kubernetes),
      "make ours known with `kubectl apply -f deploy/crds`, or start the server with "
      "--feature-gates=GenericWorkload=true and --runtime-config=scheduling.k8s.io/v1beta1=true "
      "(1.36: v1alpha2)"};
}

/// Before the server has answered: what it was like the last time is not known.
api::dialect likely_dialect(const local_options& how) {
  const auto known = api::release_of(release_of(how));
  return api::newest_dialect_of(known.value_or(api::releases.front()));
}

/// Opens the store and the door for the cluster behind the door. If nobody answers there, the store
/// is opened all the same, and the first answer is judged. Returns the dialect to speak.
base::result<api::dialect> open_store(running& all, const local_options& how,
                                      const data_home& home) {
  auto seen = all.door->ask(greeting_patience);
  if (!seen && (!how.is_elsewhere() || seen.error().what() != code::unavailable))
    return seen.error();
  auto spoken = seen ? dialect_for(*seen, how) : base::result<api::dialect>{likely_dialect(how)};
  if (!spoken)
    return spoken.error();
  if (seen && how.is_elsewhere() && !how.quiet)
    fmt::print(stderr, "Kubernetes {}, groups of pods in {}\n", seen->kubernetes,
               api::api_version_of(*spoken));
  auto opened = persistence::open_rocks_store(
      {.path = home.sub("scheduler"),
       .shards = how.shards,
       .cluster_uid = seen ? seen->uid : std::string{},
       .reserve = how.disk_reserve,
       .warn = [](const std::string& what) { fmt::print(stderr, "warning: {}\n", what); }});
  if (!opened)
    return opened.error();
  all.store = std::move(*opened);
  if (seen) {
    all.door->open();
    return *spoken;
  }
  print_warning({seen.error().what(),
                 seen.error().message() + "; going on with what the store knows, and trying again",
                 seen.error().hint()});
  all.door->open_when(
      [&all, how, assumed = *spoken](const cluster_facts& found) -> base::result<void> {
        const auto now = dialect_for(found, how);
        if (!now)
          return now.error();
        if (*now != assumed)
          return error{code::unavailable,
                       fmt::format("the API server speaks of groups in {}, and {} was taken for "
                                   "granted while it did not answer",
                                   api::api_version_of(*now), api::api_version_of(assumed)),
                       "start again: what is decided is kept"};
        return all.store->claim(found.uid);
      },
      [&all](const error& e) { all.end.report(e); });
  return *spoken;
}

/// Links that go up and down are notes; what a human must mend is said.
void note_link(actors::scheduler& who, const base::clock& clock, bool is_quiet,
               const std::string& replica, const error* why) {
  protocol::note what{why == nullptr ? "link.up" : "link.down", {{"replica", replica}}};
  if (why != nullptr)
    what.fields.emplace_back("why", why->message());
  who.notes().record(protocol::to(protocol::role_kind::admin), what, clock.now(), clock.wall_now());
  const auto place = replica.empty() ? std::string{"link"} : "link to " + replica;
  if (why != nullptr && why->what() != code::unavailable)
    print_warning(why->in(place));
  else if (!is_quiet && !replica.empty())
    fmt::print(stderr, "{}: {}\n", place, why == nullptr ? "up" : "down, " + why->message());
}

/// After the store, which knows the cluster; before the scheduler, whose Lease has its address.
base::result<void> open_link(running& all, const local_options& how, const base::clock& clock,
                             actors::scheduler_options& o) {
  if (how.replica.is_alone())
    return {};
  auto opened = open_links(how.replica, all.store->who().cluster_uid, bridge::this_machine(clock),
                           [&all, &clock, quiet = how.quiet](const auto& replica, const auto* why) {
                             if (all.scheduler)
                               note_link(*all.scheduler, clock, quiet, replica, why);
                           });
  if (!opened)
    return opened.error();
  all.links = std::move(*opened);
  o.replica = how.replica.name;
  o.link = link_address(how.replica, all.links->port());
  if (how.replica.lease_s != 0)
    o.lease = bridge::lease_times_of(std::chrono::seconds{how.replica.lease_s});
  if (!how.quiet)
    fmt::print(stderr, "replica {}, link {} ({})\n", o.replica, o.link,
               how.replica.tls_dir.empty() ? "plain" : "TLS");
  return {};
}

base::result<void> start_scheduler(running& all, const local_options& how, const data_home& home,
                                   const base::clock& clock) {
  if (auto ok = open_door(all, how, clock); !ok)
    return ok;
  auto spoken = open_store(all, how, home);
  if (!spoken)
    return spoken.error();
  actors::scheduler_options o;
  o.shards = all.store->who().shards;
  o.spoken = *spoken;
  o.fast_path = !how.long_path;
  o.seed = base::draw_seed();
  o.writes_step_events = how.step_events;
  if (how.repair_deadline_s > 0)
    o.repair_deadline = std::chrono::seconds{how.repair_deadline_s};
  o.evicts_degraded = how.evicts_degraded;
  o.preemption = how.preemption;
  o.exempt_pods = how.exempt_pods;
  o.scheduler_names = how.scheduler_names;
  if (!how.levels.empty())
    o.levels = how.levels;
  if (auto ok = open_link(all, how, clock, o); !ok)
    return ok;
  auto begun = actors::scheduler::start(
      o, *all.store, all.door.get(), clock, [&all](const error& e) { all.end.report(e); },
      all.links.get());
  if (!begun)
    return begun.error();
  all.scheduler = std::move(*begun);
  dying = all.scheduler.get();
  if (all.links)
    all.links->begin([who = all.scheduler.get()](const std::string& from, std::string_view frame) {
      who->hear(from, frame);
    });
  return {};
}

/// Before anything is touched: an address in use is said while there is nothing to take back. Until
/// the scheduler is there, whoever asks hears that it starts.
base::result<void> open_admin(running& all, const local_options& how) {
  if (how.admin.empty() || how.serve_only)
    return {};
  auto where = actors::parse_host_port(how.admin);
  if (!where)
    return where.error().in("--admin");
  auto opened = actors::http_listener::open(
      where->host, where->port, [&all](const std::string& method, const std::string& target) {
        auto* who = all.asked.load();
        return who == nullptr ? actors::answer_starting(target)
                              : actors::answer_admin(*who, view_of_process(), method, target);
      });
  if (!opened)
    return opened.error().in("--admin");
  all.admin = std::move(*opened);
  return {};
}

/// From here on the scheduler answers at the admin address.
void begin_answering(running& all, const local_options& how) {
  all.asked = all.scheduler.get();
  if (all.admin && !how.quiet)
    fmt::print(stderr, "admin address http://{}:{}\n", actors::parse_host_port(how.admin)->host,
               all.admin->port());
}

/// Shows once in a while how far long work is, and ends it when the process is told to stop.
class work_line {
public:
  explicit work_line(const local_options& how) : shows_(!how.quiet && line_.is_seen()) {}

  base::step_watch watching(std::string what) {
    return [this, what = std::move(what)](std::size_t done) {
      if (shows_ && clock_.now() >= next_) {
        line_.show(fmt::format("{}: {} objects", what, done));
        next_ = clock_.now() + progress_interval;
      }
      return signalled == 0;
    };
  }

private:
  terminal_line line_;
  const bool shows_;
  base::system_clock clock_;
  base::time_point next_ = clock_.now() + progress_interval;
};

base::result<void> apply_files(running& all, const local_options& how) {
  if (how.files.empty())
    return {};
  work_line line{how};
  auto release = api::release_of(release_of(how));
  auto read =
      api::read_manifests(how.files, {.kubernetes = release, .watch = line.watching("reading")});
  if (!read) {
    if (signalled != 0 && !how.quiet)
      fmt::print(stderr, "stopped: nothing of the files is applied\n");
    return read.error();
  }
  std::vector<boost::json::object> objects;
  std::vector<std::string> places;
  if (read->empty())
    return no_objects(how.files);
  for (auto& m : *read) {
    places.push_back(api::place_of(m));
    objects.push_back(std::move(m.object));
  }
  const auto count = objects.size();
  std::size_t applied = 0;
  auto watch = [&, show = line.watching("checking and applying")](std::size_t done) {
    applied = done > count ? done - count : 0;
    return show(done);
  };
  auto done = all.api->apply_whole(std::move(objects), std::move(places), watch);
  if (signalled != 0 && !how.quiet)
    fmt::print(stderr, "stopped: {} of {} objects are applied\n", applied, count);
  if (!done)
    return done.error();
  if (!how.quiet)
    fmt::print(stderr, "applied: {} created, {} changed, {} unchanged\n", done->created,
               done->changed, done->unchanged);
  return {};
}

/// Nothing is runnable anywhere: the API server has nothing under way, its last write has come
/// round to the scheduler's actors, and the queue is quiet; several looks in a row.
class settle_watch {
public:
  bool look(running& all) {
    const auto before = all.api ? all.api->last_resource_version() : 0;
    const bool busy = (all.api && all.api->pending_work() > 0) || !actors::is_quiet(*all.scheduler);
    const auto after = all.api ? all.api->last_resource_version() : 0;
    const bool moved = before != after || after != last_;
    last_ = after;
    quiet_ = busy || moved ? 0 : quiet_ + 1;
    return quiet_ >= quiet_looks;
  }

private:
  sim::api_server::revision last_ = 0;
  int quiet_ = 0;
};

/// Shows how far the gangs are, if that is known.
void show_progress(running& all, base::duration so_far, terminal_line& line) {
  boost::system::error_code ec;
  const auto phases = boost::json::parse(phases_text(*all.scheduler), ec);
  if (ec || !phases.is_object())
    return;
  const auto seconds = std::chrono::duration<double>(so_far).count();
  line.show(progress_text(phases.get_object(), seconds));
}

base::result<void> run_until_told(running& all, const local_options& how,
                                  const base::clock& clock) {
  settle_watch settled;
  terminal_line line; // gone on every way out: what follows begins in the first column
  const bool shows = !how.quiet && how.until == "settled" && line.is_seen();
  const auto began = clock.now();
  auto next_progress = began; // at once: who waits sees for what
  rights_watch rights;
  auto next_look_at_rights = began;
  std::optional<dialect_watch> dialects;
  if (how.is_elsewhere())
    dialects.emplace(*all.door, all.scheduler->options().spoken);
  while (signalled == 0) {
    if (auto broken = all.end.within(look_interval))
      return *broken;
    is_settled = settled.look(all);
    if (how.until == "settled" && is_settled)
      break;
    if (clock.now() >= next_look_at_rights) {
      rights.look(all.scheduler->calls());
      if (auto other = dialects ? dialects->look(clock.now()) : std::nullopt)
        return *other;
      next_look_at_rights = clock.now() + rights_interval;
    }
    if (shows && clock.now() >= next_progress) {
      show_progress(all, clock.now() - began, line);
      next_progress = clock.now() + progress_interval; // a look at a busy queue takes its time
    }
  }
  return {};
}

} // namespace

base::result<void> run_local(const local_options& how) {
  const char* fault = std::getenv("TUTTI_FAULT");
  ensure(base::arm_fault(fault != nullptr ? fault : ""), fault);
  base::set_fault_hook(say_last_words);
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  std::signal(SIGPIPE, SIG_IGN);
  base::system_clock clock;
  std::optional<data_home> home; // goes after everybody who has files there
  running all;
  if (auto ok = open_admin(all, how); !ok)
    return ok;
  if (auto ok = try_listen(how); !ok)
    return ok;
  if (!how.quiet)
    warn_of_strangers(how);
  auto opened = data_home::open(how.data_dir);
  if (!opened)
    return opened.error();
  home.emplace(std::move(*opened));
  if (!how.is_elsewhere())
    if (auto ok = start_api(all, how, *home, clock); !ok)
      return ok;
  if (all.api)
    if (auto ok = apply_files(all, how); !ok && signalled == 0)
      return ok;
  if (signalled != 0) { // what was applied is durable: the next start goes on with the same files
    if (all.api)
      all.api->stop();
    return {};
  }
  if (how.serve_only) {
    while (signalled == 0)
      std::this_thread::sleep_for(look_interval);
    all.api->stop();
    return {};
  }
  if (auto ok = start_scheduler(all, how, *home, clock); !ok) {
    if (signalled == 0)
      return ok;
    if (all.api)
      all.api->stop();
    return {};
  }
  begin_answering(all, how);
  auto ended = run_until_told(all, how, clock);
  if (ended && how.until == "settled" && !how.quiet) {
    reader inside = [&all](const std::string& path) -> base::result<boost::json::object> {
      const auto reply = actors::answer_admin(*all.scheduler, view_of_process(), "GET", path);
      return boost::json::parse(reply.body).as_object();
    };
    if (auto shown = get(inside, "gangs", {.all_spaces = true}, clock); !shown)
      ended = shown;
  }
  all.admin.reset();
  all.asked = dying = nullptr;
  all.scheduler->stop();
  if (all.links)
    all.links->end(); // it hears and says of the scheduler
  if (all.api)
    all.api->stop();
  return ended;
}

} // namespace tutti::cli
