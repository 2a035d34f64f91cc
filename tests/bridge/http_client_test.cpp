#include "bridge/http_client.hpp"

#include <atomic>
#include <chrono>
#include <deque>
#include <future>
#include <optional>
#include <set>
#include <thread>

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "mailbox.hpp"

namespace tutti::bridge {
namespace {

/// The server's end of one connection, with blocking reads and writes.
class peer {
public:
  explicit peer(int descriptor) : descriptor_(descriptor) {}
  peer(peer&& x) noexcept : descriptor_(std::exchange(x.descriptor_, -1)), read_(x.read_) {}
  peer& operator=(peer&&) = delete;
  ~peer() { close(); }

  /// One whole request, head and body.
  std::string request() {
    for (;;) {
      const auto head = read_.find("\r\n\r\n");
      if (head != std::string::npos) {
        std::size_t length = head + 4;
        if (const auto at = read_.find("Content-Length: "); at < head)
          length += std::stoul(read_.substr(at + 16));
        if (read_.size() >= length) {
          auto out = read_.substr(0, length);
          read_.erase(0, length);
          return out;
        }
      }
      char buffer[4096];
      const auto n = ::read(descriptor_, buffer, sizeof buffer);
      if (n <= 0)
        return {}; // the client closed
      read_.append(buffer, static_cast<std::size_t>(n));
    }
  }
  void send(std::string_view text) {
    ASSERT_EQ(::send(descriptor_, text.data(), text.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(text.size()));
  }
  void answer(int status, std::string_view body, std::string_view more = "") {
    send(fmt::format("HTTP/1.1 {} X\r\n{}Content-Length: {}\r\n\r\n{}", status, more, body.size(),
                     body));
  }
  void open_stream() { send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"); }
  void chunk(std::string_view text) { send(fmt::format("{:x}\r\n{}\r\n", text.size(), text)); }
  void close() {
    if (descriptor_ >= 0)
      ::close(descriptor_);
    descriptor_ = -1;
  }

private:
  int descriptor_;
  std::string read_;
};

struct HttpClient : testing::Test {
  mailbox<int> accepted;
  mailbox<http_event> heard;
  std::optional<http_client> client;
  std::uint64_t last_id = 0;

  void SetUp() override { begin({}); }
  void TearDown() override { client.reset(); }

  void begin(http_client::options how) {
    client.reset();
    client.emplace(connect_by_descriptor([this]() -> base::result<int> {
                     int ends[2];
                     if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
                       return base::error{base::code::io, "socketpair"};
                     accepted.push(ends[1]);
                     return ends[0];
                   }),
                   how);
  }
  std::uint64_t start(protocol::http_request request) {
    const auto id = ++last_id;
    client->start(id, std::move(request), [this](http_event e) { heard.push(std::move(e)); });
    return id;
  }
  std::uint64_t get(std::string target) { return start({"GET", std::move(target), {}, {}}); }
  std::uint64_t post(std::string target, std::string body) {
    return start({"POST", std::move(target), std::move(body), {}});
  }
  std::uint64_t watch(std::string target) {
    protocol::http_request r{"GET", std::move(target), {}, {}};
    r.is_stream = true;
    return start(std::move(r));
  }
  peer accept() { return peer{accepted.pop()}; }
  template <class E>
  E next() {
    auto e = heard.pop();
    auto* x = std::get_if<E>(&e);
    EXPECT_NE(x, nullptr) << "another event: " << e.index();
    return x ? std::move(*x) : E{};
  }
};

TEST_F(HttpClient, carries_a_request_and_its_answer) {
  begin({.path = "/proxied",
         .who = std::make_shared<fixed_identity>(identity{"Bearer secret", nullptr})});
  const auto id = post("/api/v1/x?y=1", "{\"a\":1}");
  auto server = accept();
  const auto request = server.request();
  EXPECT_TRUE(request.starts_with("POST /proxied/api/v1/x?y=1 HTTP/1.1\r\nHost: kubernetes\r\n"))
      << request;
  EXPECT_NE(request.find("Authorization: Bearer secret\r\n"), std::string::npos);
  EXPECT_NE(request.find("Content-Type: application/json\r\nContent-Length: 7\r\n\r\n{\"a\":1}"),
            std::string::npos);
  server.answer(201, "{\"b\":2}");
  const auto a = next<protocol::answered>();
  EXPECT_EQ(a.id, id);
  EXPECT_EQ(a.status, 201);
  EXPECT_EQ(a.body, "{\"b\":2}");
  EXPECT_EQ(a.retry_after_ms, 0);
}

TEST_F(HttpClient, keeps_connections_for_the_next_request) {
  get("/1");
  auto server = accept();
  server.request();
  server.answer(200, "one");
  EXPECT_EQ(next<protocol::answered>().body, "one");
  get("/2");
  EXPECT_TRUE(server.request().starts_with("GET /2 "));
  server.answer(200, "two");
  EXPECT_EQ(next<protocol::answered>().body, "two");
  EXPECT_EQ(accepted.size(), 0u);
}

TEST_F(HttpClient, reads_how_long_to_wait) {
  get("/");
  auto server = accept();
  server.request();
  server.answer(429, "", "Retry-After: 7\r\n");
  EXPECT_EQ(next<protocol::answered>().retry_after_ms, 7000);
}

TEST_F(HttpClient, an_answer_that_does_not_come_is_unknown) {
  const auto id = post("/x", "{}");
  auto server = accept();
  server.request();
  server.close();
  EXPECT_EQ(next<protocol::answer_unknown>().id, id);
}

TEST_F(HttpClient, an_answer_that_is_cut_is_unknown) {
  post("/x", "{}");
  auto server = accept();
  server.request();
  server.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
  server.close();
  EXPECT_FALSE(next<protocol::answer_unknown>().why.empty());
}

TEST_F(HttpClient, an_answer_later_than_the_limit_is_unknown) {
  begin({.timeout = std::chrono::milliseconds{1}});
  post("/x", "{}");
  auto server = accept();
  EXPECT_EQ(next<protocol::answer_unknown>().why, "timeout");
}

TEST_F(HttpClient, a_kept_connection_that_was_closed_costs_a_read_nothing) {
  get("/1");
  {
    auto server = accept();
    server.request();
    server.answer(200, "one");
    next<protocol::answered>();
  }
  get("/2");
  auto server = accept();
  server.request();
  server.answer(200, "two");
  EXPECT_EQ(next<protocol::answered>().body, "two");
}

TEST_F(HttpClient, a_write_is_never_sent_twice) {
  get("/1");
  {
    auto server = accept();
    server.request();
    server.answer(200, "one");
    next<protocol::answered>();
  }
  post("/2", "{}");
  next<protocol::answer_unknown>();
  EXPECT_EQ(accepted.size(), 0u);
}

TEST_F(HttpClient, a_connection_that_the_server_ends_is_not_kept) {
  get("/1");
  auto first = accept();
  first.request();
  first.answer(200, "one", "Connection: close\r\n");
  next<protocol::answered>();
  post("/2", "{}");
  auto second = accept();
  EXPECT_TRUE(second.request().starts_with("POST /2 "));
}

TEST_F(HttpClient, urgent_requests_go_before_those_that_wait) {
  begin({.connections = 1});
  get("/first");
  auto server = accept();
  EXPECT_TRUE(server.request().starts_with("GET /first "));
  get("/patient");
  protocol::http_request urgent{"GET", "/urgent", {}, {}};
  urgent.is_urgent = true;
  start(urgent);
  server.answer(200, "");
  EXPECT_TRUE(server.request().starts_with("GET /urgent "));
  server.answer(200, "");
  EXPECT_TRUE(server.request().starts_with("GET /patient "));
}

TEST_F(HttpClient, opens_no_more_connections_than_allowed) {
  begin({.connections = 2});
  for (int i = 0; i < 3; ++i)
    get("/");
  auto a = accept();
  auto b = accept();
  a.request();
  b.request();
  a.answer(200, "");
  next<protocol::answered>();
  EXPECT_FALSE(a.request().empty()) << "the third waits for a connection";
  EXPECT_EQ(accepted.size(), 0u);
}

TEST_F(HttpClient, hands_on_a_watch_in_whole_lines) {
  const auto id = watch("/pods?watch=true");
  auto server = accept();
  server.request();
  server.open_stream();
  EXPECT_EQ(next<protocol::stream_opened>().id, id);
  server.chunk("{\"a\":1}\n{\"b\"");
  EXPECT_EQ(next<protocol::stream_lines>().lines, "{\"a\":1}\n");
  server.chunk(":2}\n");
  EXPECT_EQ(next<protocol::stream_lines>().lines, "{\"b\":2}\n");
  server.send("0\r\n\r\n");
  EXPECT_EQ(next<protocol::stream_closed>().why, "");
}

TEST_F(HttpClient, a_chunk_header_in_pieces_is_put_together) {
  watch("/pods");
  auto server = accept();
  server.request();
  server.open_stream();
  next<protocol::stream_opened>();
  for (const auto* piece : {"8", "\r", "\n{\"a\":1}", "\n\r", "\n"})
    server.send(piece);
  EXPECT_EQ(next<protocol::stream_lines>().lines, "{\"a\":1}\n");
}

TEST_F(HttpClient, a_watch_that_breaks_says_why) {
  watch("/pods");
  auto server = accept();
  server.request();
  server.open_stream();
  next<protocol::stream_opened>();
  server.chunk("{\"a\":1}\n{\"b");
  next<protocol::stream_lines>();
  server.close();
  EXPECT_FALSE(next<protocol::stream_closed>().why.empty());
}

TEST_F(HttpClient, a_refused_watch_is_an_answer) {
  watch("/pods");
  auto server = accept();
  server.request();
  server.answer(410, "{\"code\":410}");
  const auto a = next<protocol::answered>();
  EXPECT_EQ(a.status, 410);
  EXPECT_EQ(a.body, "{\"code\":410}");
}

TEST_F(HttpClient, nothing_is_heard_after_hanging_up) {
  const auto id = watch("/pods");
  auto server = accept();
  server.request();
  server.open_stream();
  next<protocol::stream_opened>();
  client->hang_up(id);
  EXPECT_EQ(server.request(), "") << "the connection is closed";
  get("/last");
  auto other = accept();
  other.request();
  other.answer(200, "");
  next<protocol::answered>();
  EXPECT_EQ(heard.size(), 0u);
}

TEST_F(HttpClient, a_request_that_still_waits_is_hung_up_without_a_trace) {
  begin({.connections = 1});
  get("/first");
  auto server = accept();
  server.request();
  const auto id = get("/second");
  get("/third");
  client->hang_up(id);
  server.answer(200, "");
  next<protocol::answered>();
  EXPECT_TRUE(server.request().starts_with("GET /third "));
}

TEST_F(HttpClient, a_large_answer_arrives_whole) {
  get("/");
  auto server = accept();
  server.request();
  const std::string body(500'000, 'x');
  server.answer(200, body);
  EXPECT_EQ(next<protocol::answered>().body, body);
}

/// Hands out the next of its names whenever the last one was refused.
class renewed final : public identity_source {
public:
  explicit renewed(std::vector<std::string> names) {
    for (auto& name : names)
      all_.push_back(std::make_shared<const identity>(identity{std::move(name), nullptr}));
  }
  identity_ptr known() const override { return fetched_ ? all_.front() : nullptr; }
  base::result<identity_ptr> fetch(const identity_ptr& refused) override {
    fetched_ = true;
    if (refused == all_.front() && all_.size() > 1)
      all_.pop_front();
    return all_.front();
  }
  void give_up() noexcept override {}

private:
  std::atomic<bool> fetched_{false};
  std::deque<identity_ptr> all_;
};

TEST_F(HttpClient, a_refused_identity_is_renewed_once_even_for_a_write) {
  begin({.who = std::make_shared<renewed>(std::vector<std::string>{"Bearer old", "Bearer new"})});
  post("/x", "{}");
  auto server = accept();
  EXPECT_NE(server.request().find("Authorization: Bearer old\r\n"), std::string::npos);
  server.answer(401, "{}");
  EXPECT_NE(server.request().find("Authorization: Bearer new\r\n"), std::string::npos)
      << "on the same connection";
  server.answer(201, "{}");
  EXPECT_EQ(next<protocol::answered>().status, 201);
  EXPECT_EQ(heard.size(), 0u);
}

TEST_F(HttpClient, a_second_refusal_is_an_answer) {
  begin({.who = std::make_shared<renewed>(std::vector<std::string>{"a", "b", "c"})});
  get("/x");
  auto server = accept();
  server.request();
  server.answer(401, "{}");
  server.request();
  server.answer(401, "{}");
  EXPECT_EQ(next<protocol::answered>().status, 401);
}

TEST_F(HttpClient, a_refusal_is_an_answer_where_there_is_no_other_identity) {
  begin({.who = std::make_shared<renewed>(std::vector<std::string>{"a"})});
  get("/x");
  auto server = accept();
  server.request();
  server.answer(401, "{}");
  EXPECT_EQ(next<protocol::answered>().status, 401);
}

TEST_F(HttpClient, a_refused_watch_is_tried_with_the_renewed_identity) {
  begin({.who = std::make_shared<renewed>(std::vector<std::string>{"old", "new"})});
  watch("/pods?watch=true");
  {
    auto server = accept();
    server.request();
    server.answer(401, "{}");
  }
  auto server = accept();
  EXPECT_NE(server.request().find("Authorization: new\r\n"), std::string::npos);
  server.open_stream();
  next<protocol::stream_opened>();
}

/// Blocks until it is given up, as a program does that hangs.
class hanging final : public identity_source {
public:
  identity_ptr known() const override { return nullptr; }
  base::result<identity_ptr> fetch(const identity_ptr&) override {
    entered.push(true);
    left.pop();
    return base::error{base::code::unavailable, "given up"};
  }
  void give_up() noexcept override { left.push(true); }

  mailbox<bool> entered;
  mailbox<bool> left;
};

/// What a client says of failures.
struct failure_box {
  struct said {
    base::error what;
    bool needs_human = false;
  };
  mailbox<said> heard;

  std::function<void(const base::error&, bool)> ear() {
    return [this](const base::error& e, bool needs_human) { heard.push({e, needs_human}); };
  }
};

TEST_F(HttpClient, ends_while_an_identity_is_waited_for) {
  const auto who = std::make_shared<hanging>();
  begin({.who = who});
  get("/x");
  who->entered.pop();
  client.reset();
  EXPECT_EQ(heard.size(), 0u);
}

/// One identity, and a look for another that takes until the test lets it end.
class slow_to_look final : public identity_source {
public:
  identity_ptr known() const override { return mine_; }
  base::result<identity_ptr> fetch(const identity_ptr&) override {
    entered.push(true);
    left.pop();
    return mine_;
  }
  void give_up() noexcept override { left.push(true); }

  mailbox<bool> entered;
  mailbox<bool> left;

private:
  const identity_ptr mine_ = std::make_shared<const identity>(identity{"Bearer a", nullptr});
};

struct LookUp : HttpClient {
  std::shared_ptr<slow_to_look> who = std::make_shared<slow_to_look>();

  /// The one pooled connection, on which a request was refused; another identity is looked for.
  peer refuse_one(http_client::options how) {
    how.who = who;
    how.connections = 1;
    begin(how);
    last_refused = post("/first", "{}");
    auto server = accept();
    server.request();
    server.answer(401, "{}");
    who->entered.pop();
    return server;
  }
  /// The next write goes over the same connection.
  void expect_still_kept(peer& server) {
    post("/second", "{}");
    EXPECT_TRUE(server.request().starts_with("POST /second ")) << "the connection was closed";
    server.answer(201, "{}");
    EXPECT_EQ(next<protocol::answered>().status, 201);
  }
  std::uint64_t last_refused = 0;
};

TEST_F(LookUp, of_an_identity_that_nobody_waits_for_any_more_leaves_the_connection_alone) {
  auto server = refuse_one({});
  client->hang_up(last_refused);
  watch("/pods"); // begins after the hang-up was carried out
  auto other = accept();
  who->left.push(true);
  expect_still_kept(server);
}

TEST_F(LookUp, of_an_identity_that_takes_longer_than_a_request_may_leaves_the_connection_alone) {
  auto server = refuse_one({.timeout = std::chrono::milliseconds{1500}});
  watch("/pods"); // its limit is over after that of the one that was refused
  auto other = accept();
  EXPECT_EQ(next<protocol::answer_unknown>().why, "timeout");
  who->left.push(true);
  EXPECT_EQ(next<protocol::answered>().status, 401);
  expect_still_kept(server);
}

TEST_F(HttpClient, says_why_there_is_no_identity) {
  const auto who = std::make_shared<hanging>();
  failure_box failures;
  begin({.who = who, .failed = failures.ear()});
  get("/x");
  who->entered.pop();
  who->give_up();
  EXPECT_EQ(next<protocol::answer_unknown>().why, "given up");
  const auto said = failures.heard.pop();
  EXPECT_EQ(said.what.what(), base::code::unavailable);
  EXPECT_TRUE(said.needs_human);
  client.reset(); // before what it calls
}

TEST_F(HttpClient, calls_a_human_when_a_refusal_stays_one) {
  failure_box failures;
  begin(
      {.who = std::make_shared<renewed>(std::vector<std::string>{"a"}), .failed = failures.ear()});
  get("/x");
  auto server = accept();
  server.request();
  server.answer(401, "{}");
  EXPECT_EQ(next<protocol::answered>().status, 401);
  const auto said = failures.heard.pop();
  EXPECT_EQ(said.what, unknown_to_server());
  EXPECT_TRUE(said.needs_human);
  client.reset();
}

TEST_F(HttpClient, calls_a_human_when_a_watch_stays_refused) {
  failure_box failures;
  begin(
      {.who = std::make_shared<renewed>(std::vector<std::string>{"a"}), .failed = failures.ear()});
  watch("/pods?watch=true");
  auto server = accept();
  server.request();
  server.answer(401, "{}");
  EXPECT_EQ(next<protocol::answered>().status, 401);
  EXPECT_TRUE(failures.heard.pop().needs_human);
  client.reset();
}

TEST_F(HttpClient, calls_nobody_for_a_connection_that_is_cut) {
  failure_box failures;
  begin({.failed = failures.ear()});
  post("/x", "{}");
  {
    auto server = accept();
    server.request();
  }
  next<protocol::answer_unknown>();
  EXPECT_FALSE(failures.heard.pop().needs_human);
  client.reset();
}

TEST(HttpClientOverTcp, a_server_that_is_not_there_is_unknown) {
  mailbox<http_event> heard;
  http_client client{connect_by_tcp({"127.0.0.1", 1}), {}};
  client.start(1, {"GET", "/", {}, {}}, [&](http_event e) { heard.push(std::move(e)); });
  const auto e = heard.pop();
  const auto* unknown = std::get_if<protocol::answer_unknown>(&e);
  ASSERT_NE(unknown, nullptr);
  EXPECT_NE(unknown->why.find("nobody listens there"), std::string::npos) << unknown->why;
}

/// Reads and signs of life go on; what was asked first among the writes goes first.
TEST_F(HttpClient, holds_back_writes_that_are_above_their_budget_and_nothing_else) {
  begin({.connections = 1, .writes = {.per_second = 0.5, .burst = 1}});
  post("/first", "{}");
  post("/second", "{}");
  post("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases", "{}");
  post("/apis/tutti.dev/v1alpha1/partitionmaps", "{}");
  get("/read");
  auto server = accept();
  for (const char* target : {"POST /first", "POST /apis/coordination", "POST /apis/tutti.dev",
                             "GET /read", "POST /second"}) {
    const auto request = server.request();
    EXPECT_TRUE(request.starts_with(target)) << request;
    server.answer(200, "{}");
    (void)heard.pop();
  }
}

/// Who waits for the budget may be sent to read meanwhile, and its answer may never come.
TEST_F(HttpClient, lets_a_write_go_when_its_time_comes_whoever_is_busy_by_then) {
  begin({.connections = 2, .writes = {.per_second = 2, .burst = 1}});
  post("/first", "{}");
  auto one = accept();
  EXPECT_TRUE(one.request().starts_with("POST /first"));
  get("/once");
  auto two = accept();
  EXPECT_TRUE(two.request().starts_with("GET /once"));
  for (auto* server : {&one, &two}) {
    server->answer(200, "{}");
    (void)heard.pop();
  }
  post("/second", "{}");
  std::this_thread::sleep_for(std::chrono::milliseconds{50}); // one of them has looked by then
  get("/slow");
  auto asked_of_two = std::async(std::launch::async, [&] { return two.request(); });
  const std::set<std::string> got{one.request().substr(0, 9), asked_of_two.get().substr(0, 9)};
  EXPECT_EQ(got, (std::set<std::string>{"GET /slow", "POST /sec"})) << "neither was answered";
}

TEST_F(HttpClient, gives_the_budget_of_writes_to_urgent_ones_first) {
  begin({.connections = 1, .writes = {.per_second = 20, .burst = 1}});
  post("/first", "{}");
  auto server = accept();
  EXPECT_TRUE(server.request().starts_with("POST /first"));
  post("/event", "{}"); // these two wait for the connection, and then for the budget
  protocol::http_request binding{"POST", "/binding", "{}", {}};
  binding.is_urgent = true;
  start(binding);
  server.answer(200, "{}");
  for (const char* target : {"POST /binding", "POST /event"}) {
    EXPECT_TRUE(server.request().starts_with(target));
    server.answer(200, "{}");
  }
}

TEST(WriteBudget, lets_a_burst_go_and_then_so_many_per_second) {
  using namespace std::chrono_literals;
  write_budget budget{{.per_second = 10, .burst = 3}};
  base::time_point now{1h};
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(budget.wait(now), 0ms);
    budget.spend();
  }
  EXPECT_EQ(budget.wait(now), 100ms);
  now += 60ms;
  EXPECT_EQ(budget.wait(now), 40ms);
  now += 40ms;
  EXPECT_EQ(budget.wait(now), 0ms);
  budget.spend();
  now += 1h;
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(budget.wait(now), 0ms) << "no more than a burst is saved up";
    budget.spend();
  }
  EXPECT_GT(budget.wait(now), 0ms);
}

TEST(WriteBudget, without_a_number_is_no_limit) {
  write_budget budget{{}};
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(budget.wait(base::time_point{}), base::duration::zero());
    budget.spend();
  }
}

} // namespace
} // namespace tutti::bridge
