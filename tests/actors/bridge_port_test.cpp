// Schedulers and a bridge over real sockets: what is asked gets an answer or an unknown outcome,
// and never two of them.
#include "actors/bridge_port.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "actors/bridge_line.hpp"
#include "actors/tcp_links.hpp"
#include "tests/actors/machine_files.hpp"
#include "tests/actors/waiting.hpp"
#include "tests/bridge/certificates.hpp"

namespace tutti::actors::testing {
namespace {

using namespace std::chrono_literals;
using base::code;
namespace tls = testing_tls;

const tls::authority& ours() {
  static const tls::authority x{"our authority"};
  return x;
}

void show(files& on, const tls::certified& who, const tls::authority& trusted = ours()) {
  on.write("d/tls.crt", who.certificate);
  on.write("d/tls.key", who.key);
  on.write("d/ca.crt", trusted.certificate());
}

link_times quick() {
  link_times out;
  out.heartbeat = 20ms;
  out.retry_first = 5ms;
  out.retry_longest = 20ms;
  out.certificates_last = 20ms;
  return out;
}

/// The API server behind the bridge: it answers when the test says so.
class api final : public http_carrier {
public:
  void start(std::uint64_t id, protocol::http_request request,
             std::function<void(protocol::event)> tell) override {
    const std::lock_guard lock{mutex_};
    open_[id] = {request.method + " " + request.target, std::move(tell)};
    asked_.push_back(request.method + " " + request.target);
  }
  void hang_up(std::uint64_t id) override {
    const std::lock_guard lock{mutex_};
    if (open_.contains(id))
      given_up_.push_back(open_[id].first);
    open_.erase(id);
  }

  std::size_t count(const std::string& what) {
    const std::lock_guard lock{mutex_};
    return static_cast<std::size_t>(std::count_if(
        asked_.begin(), asked_.end(), [&](const auto& x) { return x.starts_with(what); }));
  }
  bool was_given_up(const std::string& what) {
    const std::lock_guard lock{mutex_};
    return std::find(given_up_.begin(), given_up_.end(), what) != given_up_.end();
  }
  /// Says something about the first open exchange whose words begin so; waits until there is one.
  void say(const std::string& what, std::function<protocol::event(std::uint64_t)> words,
           bool is_last = true) {
    ASSERT_TRUE(eventually([&] { return find(what) != 0; })) << what;
    const auto id = find(what);
    std::function<void(protocol::event)> tell;
    {
      const std::lock_guard lock{mutex_};
      tell = open_[id].second;
      if (is_last)
        open_.erase(id);
    }
    tell(words(id));
  }
  void answer(const std::string& what, int status, std::string body) {
    say(what, [&](auto id) { return protocol::answered{id, status, body}; });
  }
  /// The pods' watch: there are none, at 10; and every list is answered.
  void serve_pods() {
    say(
        "GET /api/v1/pods?watch", [](auto id) { return protocol::stream_opened{id}; }, false);
    lines(R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"10","annotations":)"
          R"({"k8s.io/initial-events-end":"true"}}}})");
  }
  void lines(const std::string& text) {
    say(
        "GET /api/v1/pods?watch",
        [&](auto id) {
          return protocol::stream_lines{id, text + "\n"};
        },
        false);
  }

private:
  std::uint64_t find(const std::string& what) {
    const std::lock_guard lock{mutex_};
    for (const auto& [id, x] : open_)
      if (x.first.starts_with(what))
        return id;
    return 0;
  }
  std::mutex mutex_;
  std::map<std::uint64_t, std::pair<std::string, std::function<void(protocol::event)>>> open_;
  std::vector<std::string> asked_;
  std::vector<std::string> given_up_;
};

constexpr auto pods_from_10 =
    "/api/v1/pods?watch=true&allowWatchBookmarks=true&resourceVersion=10&timeoutSeconds=300";

/// A bridge that may be ended and come again at its address.
struct one_bridge {
  std::shared_ptr<files> disk = std::make_shared<files>();
  api server;
  std::mutex mutex;
  std::vector<std::string> said; ///< "a up", "a gone: why", "? why"
  std::uint16_t at = 0;
  std::size_t queue_bytes_most = limits::link_queue_bytes_max;
  bool is_tls = false;
  std::string cluster = "the cluster";
  std::unique_ptr<bridge_port> port;

  void open() {
    bridge_port::options o;
    o.listen = {"127.0.0.1", at};
    if (is_tls)
      o.tls = link_files{"d", {}};
    o.machine = disk;
    o.times = quick();
    o.queue_bytes_most = queue_bytes_most;
    o.changed = [this](const std::string& who, const base::error* why) {
      const std::lock_guard lock{mutex};
      said.push_back((who.empty() ? "?" : who)
                     + (why == nullptr ? " up" : " gone: " + why->message()));
    };
    auto opened = bridge_port::open(std::move(o));
    ASSERT_TRUE(opened) << opened.error().message();
    port = std::move(*opened);
    port->begin(server, 1);
    port->serve_cluster(cluster);
    at = port->port();
  }
  bool has_said(const std::string& words) {
    const std::lock_guard lock{mutex};
    return std::any_of(said.begin(), said.end(),
                       [&](const auto& x) { return x.find(words) != x.npos; });
  }
  std::string all_said() {
    const std::lock_guard lock{mutex};
    return fmt::format("{}", fmt::join(said, "\n"));
  }
  std::size_t schedulers() const { return port->look()->schedulers.size(); }
};

/// A scheduler's end of the line, and what it hears, in short words.
struct one_scheduler {
  std::shared_ptr<files> disk = std::make_shared<files>();
  std::mutex mutex;
  std::map<std::uint64_t, std::vector<std::string>> heard;
  std::vector<base::error> failures;
  bool needs_human = false;
  int times_up = 0;
  std::unique_ptr<bridge::api_client> line;

  void call(const one_bridge& whom, std::string name, bool is_tls = false) {
    bridge_line_options o;
    o.scheduler = std::move(name);
    o.bridge = {"127.0.0.1", whom.at};
    if (is_tls)
      o.tls = link_files{"d", {}};
    o.machine = disk;
    o.times = quick();
    o.failed = [this](const base::error& e, bool human) {
      const std::lock_guard lock{mutex};
      failures.push_back(e);
      needs_human |= human;
    };
    o.changed = [this](const base::error* why) {
      const std::lock_guard lock{mutex};
      times_up += why == nullptr;
    };
    auto opened = open_bridge_line(std::move(o));
    ASSERT_TRUE(opened) << opened.error().message();
    line = std::move(*opened);
  }
  void ask(std::uint64_t id, std::string method, std::string target, bool is_stream = false) {
    protocol::http_request x{.method = std::move(method), .target = std::move(target)};
    x.is_stream = is_stream;
    line->start(id, std::move(x), [this, id](const bridge::http_event& e) {
      const std::lock_guard lock{mutex};
      heard[id].push_back(in_words(e));
    });
  }
  static std::string in_words(const bridge::http_event& e) {
    if (const auto* x = std::get_if<protocol::answered>(&e))
      return fmt::format("{} {}", x->status, x->body.substr(0, 40));
    if (std::holds_alternative<protocol::answer_unknown>(e))
      return "unknown";
    if (std::holds_alternative<protocol::stream_closed>(e))
      return "closed";
    return std::holds_alternative<protocol::stream_opened>(e) ? "open" : "lines";
  }
  std::vector<std::string> of(std::uint64_t id) {
    const std::lock_guard lock{mutex};
    const auto pos = heard.find(id);
    return pos == heard.end() ? std::vector<std::string>{} : pos->second;
  }
  /// Of any exchange.
  bool has_heard(const std::string& what) {
    const std::lock_guard lock{mutex};
    return std::any_of(heard.begin(), heard.end(),
                       [&](const auto& x) { return x.second.back() == what; });
  }
  bool heard_last(std::uint64_t id, const std::string& what) {
    return eventually([&] {
      const auto all = of(id);
      return !all.empty() && all.back() == what;
    });
  }
  int ups() {
    const std::lock_guard lock{mutex};
    return times_up;
  }
  bool is_up() {
    return eventually([this] { return ups() > 0; });
  }
  std::string troubles() {
    const std::lock_guard lock{mutex};
    std::string out;
    for (const auto& x : failures)
      out += x.message() + " (" + x.hint() + ")\n";
    return out;
  }
};

TEST(BridgePort, passes_on_what_is_no_watch_and_gives_back_the_answer) {
  one_bridge b;
  b.open();
  one_scheduler a;
  a.call(b, "a");
  a.ask(1, "POST", "/api/v1/namespaces/ns/pods/x/binding");
  a.ask(2, "GET", "/api/v1/namespaces/ns/pods/x");
  b.server.answer("GET", 200, "a pod");
  b.server.answer("POST", 201, "bound");
  EXPECT_TRUE(a.heard_last(1, "201 bound"));
  EXPECT_TRUE(a.heard_last(2, "200 a pod"));
  EXPECT_EQ(a.of(1).size(), 1u);
  const auto seen = b.port->look();
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->writes.at("create"), 1u);
  EXPECT_EQ(seen->writes_in_flight, 0u);
}

TEST(BridgePort, watches_a_kind_once_for_all) {
  one_bridge b;
  b.open();
  one_scheduler a, c;
  a.call(b, "a");
  c.call(b, "c");
  a.ask(1, "GET", pods_from_10, true);
  b.server.serve_pods();
  ASSERT_TRUE(a.heard_last(1, "open"));
  c.ask(1, "GET", pods_from_10, true);
  ASSERT_TRUE(c.heard_last(1, "open"));
  b.server.lines(R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"11"}}})");
  EXPECT_TRUE(a.heard_last(1, "lines"));
  EXPECT_TRUE(c.heard_last(1, "lines"));
  EXPECT_EQ(b.server.count("GET /api/v1/pods?watch"), 1u);
}

/// As a lost HTTP answer: whoever asked must look (2.9), and what it saw may be stale (S12).
TEST(BridgePort, that_dies_leaves_outcomes_unknown_and_watches_closed) {
  one_bridge b;
  b.open();
  one_scheduler a;
  a.call(b, "a");
  a.ask(1, "GET", pods_from_10, true);
  b.server.serve_pods();
  a.ask(2, "POST", "/api/v1/namespaces/ns/pods/x/binding");
  ASSERT_TRUE(a.heard_last(1, "open"));
  ASSERT_TRUE(eventually([&] { return b.server.count("POST") == 1; }));
  b.port->end({});
  EXPECT_TRUE(a.heard_last(1, "closed"));
  EXPECT_TRUE(a.heard_last(2, "unknown"));
  EXPECT_TRUE(b.server.was_given_up("POST /api/v1/namespaces/ns/pods/x/binding"));
  b.open();
  ASSERT_TRUE(eventually([&] { return a.ups() == 2; })) << a.troubles();
  EXPECT_EQ(b.server.count("POST"), 1u) << "nothing is sent twice";
  a.ask(3, "GET", "/version");
  b.server.answer("GET /version", 200, "v");
  EXPECT_TRUE(a.heard_last(3, "200 v"));
  EXPECT_EQ(a.of(2).size(), 1u) << "one outcome for each";
}

TEST(BridgePort, that_is_not_there_is_as_a_server_that_is_not) {
  one_bridge b;
  b.open();
  b.port->end({}); // its address, and nobody behind it
  one_scheduler a;
  a.call(b, "a");
  a.ask(1, "POST", "/x");
  EXPECT_TRUE(a.heard_last(1, "unknown"));
  EXPECT_FALSE(a.needs_human) << a.troubles();
}

TEST(BridgePort, gives_up_what_a_scheduler_had_under_way_that_has_gone) {
  one_bridge b;
  b.open();
  auto a = std::make_unique<one_scheduler>();
  a->call(b, "a");
  a->ask(1, "POST", "/x");
  a->ask(2, "GET", pods_from_10, true);
  b.server.serve_pods();
  ASSERT_TRUE(a->heard_last(2, "open"));
  ASSERT_TRUE(eventually([&] { return b.server.count("POST") == 1; }));
  a.reset();
  EXPECT_TRUE(eventually([&] { return b.server.was_given_up("POST /x"); }));
  ASSERT_TRUE(eventually([&] { return b.schedulers() == 0; }));
  EXPECT_EQ(b.port->look()->watches.front().followers, 0u);
  EXPECT_EQ(b.port->look()->writes_in_flight, 0u);
  EXPECT_EQ(b.port->look()->departures.at("gone"), 1u);
}

TEST(BridgePort, hears_what_is_given_up) {
  one_bridge b;
  b.open();
  one_scheduler a;
  a.call(b, "a");
  a.ask(1, "GET", "/slow");
  ASSERT_TRUE(eventually([&] { return b.server.count("GET /slow") == 1; }));
  a.line->hang_up(1);
  EXPECT_TRUE(eventually([&] { return b.server.was_given_up("GET /slow"); }));
  EXPECT_TRUE(a.of(1).empty());
}

/// It comes back, and lists again: nothing of it is kept here meanwhile.
TEST(BridgePort, drops_who_does_not_listen_fast_enough) {
  one_bridge b;
  b.queue_bytes_most = 64u << 10;
  b.open();
  one_scheduler a;
  a.call(b, "a");
  a.ask(1, "GET", "/large");
  a.ask(2, "GET", "/small");
  ASSERT_TRUE(eventually([&] { return b.server.count("GET /small") == 1; }));
  b.server.answer("GET /large", 200, std::string(65u << 10, 'x'));
  EXPECT_TRUE(a.heard_last(1, "unknown"));
  EXPECT_TRUE(a.heard_last(2, "unknown"));
  EXPECT_TRUE(eventually([&] { return a.ups() == 2; })) << a.troubles();
  EXPECT_TRUE(b.has_said("it does not listen fast enough")) << b.all_said();
  EXPECT_EQ(b.port->look()->departures.at("dropped"), 1u);
}

TEST(BridgePort, tells_what_became_of_writes_before_it_ends) {
  one_bridge b;
  b.open();
  one_scheduler a;
  a.call(b, "a");
  a.ask(1, "POST", "/x");
  ASSERT_TRUE(eventually([&] { return b.server.count("POST") == 1; }));
  std::thread ending{[&] { b.port->end(patience); }};
  std::uint64_t last = 1;
  EXPECT_TRUE(eventually([&] { // nothing new is taken
    a.ask(++last, "GET", "/y");
    return a.has_heard("unknown");
  }));
  b.server.answer("POST /x", 201, "bound");
  ending.join();
  EXPECT_TRUE(a.heard_last(1, "201 bound"));
}

TEST(BridgePort, refuses_schedulers_of_another_cluster) {
  one_bridge b;
  b.open();
  one_scheduler a;
  a.call(b, "a");
  ASSERT_TRUE(a.is_up());
  b.port->end({});
  b.cluster = "another";
  b.open();
  EXPECT_TRUE(eventually([&] { return a.needs_human; })) << a.troubles();
  EXPECT_NE(a.troubles().find("serves another cluster"), std::string::npos) << a.troubles();
}

TEST(BridgePort, and_replicas_tell_each_other_apart) {
  one_bridge b;
  b.open();
  tcp_links::options o;
  o.replica = "a";
  o.listen = {"127.0.0.1", 0};
  o.machine = b.disk;
  o.times = quick();
  auto links = tcp_links::open(std::move(o));
  ASSERT_TRUE(links);
  (*links)->begin([](const auto&, auto) {});
  (*links)->reach({{"b", fmt::format("127.0.0.1:{}", b.at)}});
  EXPECT_TRUE(eventually([&] { return b.has_said("speaks as one of several replicas does"); }))
      << b.all_said();
}

// ---- TLS

TEST(BridgeTls, carries_between_two_who_know_each_other) {
  one_bridge b;
  b.is_tls = true;
  show(*b.disk, ours().issue({.names = {"IP:127.0.0.1"}}));
  b.open();
  one_scheduler a;
  show(*a.disk, ours().issue({.names = {"DNS:a"}}));
  a.call(b, "a", true);
  ASSERT_TRUE(a.is_up()) << a.troubles();
  a.ask(1, "GET", "/version");
  b.server.answer("GET /version", 200, "v");
  EXPECT_TRUE(a.heard_last(1, "200 v"));
}

TEST(BridgeTls, keeps_out_who_has_a_certificate_for_others) {
  one_bridge b;
  b.is_tls = true;
  show(*b.disk, ours().issue({.names = {"IP:127.0.0.1"}}));
  b.open();
  one_scheduler a;
  show(*a.disk, ours().issue({.names = {"DNS:somebody"}}));
  a.call(b, "a", true);
  a.ask(1, "GET", "/version");
  EXPECT_TRUE(a.heard_last(1, "unknown"));
  EXPECT_TRUE(eventually([&] {
    return b.has_said("who says to be a has a certificate for others");
  })) << b.all_said();
  EXPECT_EQ(b.server.count("GET"), 0u);
  EXPECT_EQ(a.ups(), 0);
}

TEST(BridgeTls, keeps_out_who_has_a_certificate_of_another_authority) {
  static const tls::authority other{"another authority"};
  one_bridge b;
  b.is_tls = true;
  show(*b.disk, ours().issue({.names = {"IP:127.0.0.1"}}));
  b.open();
  one_scheduler a;
  show(*a.disk, other.issue({.names = {"DNS:a"}}));
  a.call(b, "a", true);
  a.ask(1, "GET", "/version");
  EXPECT_TRUE(a.heard_last(1, "unknown"));
  EXPECT_EQ(b.server.count("GET"), 0u);
  EXPECT_EQ(a.ups(), 0);
}

TEST(BridgeTls, is_not_told_anything_if_its_certificate_is_for_another_place) {
  one_bridge b;
  b.is_tls = true;
  show(*b.disk, ours().issue({.names = {"DNS:elsewhere.example"}}));
  b.open();
  one_scheduler a;
  show(*a.disk, ours().issue({.names = {"DNS:a"}}));
  a.call(b, "a", true);
  a.ask(1, "GET", "/version");
  EXPECT_TRUE(a.heard_last(1, "unknown"));
  EXPECT_TRUE(a.needs_human);
  EXPECT_NE(a.troubles().find("--link-name"), std::string::npos) << a.troubles();
}

TEST(BridgeTls, shows_a_new_certificate_without_a_restart) {
  one_bridge b;
  b.is_tls = true;
  show(*b.disk, ours().issue({.names = {"IP:127.0.0.1"}}));
  b.open();
  one_scheduler a;
  show(*a.disk, ours().issue({.names = {"DNS:a"}}));
  a.call(b, "a", true);
  ASSERT_TRUE(a.is_up()) << a.troubles();
  show(*b.disk, ours().issue({.names = {"IP:127.0.0.1"}}));
  EXPECT_TRUE(eventually([&] { return a.ups() == 2; })) << a.troubles();
}

} // namespace
} // namespace tutti::actors::testing
