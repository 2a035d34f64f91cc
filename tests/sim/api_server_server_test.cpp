// The server around the control plane: bytes over a socket pair, and what survives a restart.
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "sim/api_server/connection.hpp"
#include "sim/api_server/server.hpp"
#include "tests/persistence/crash_disk.hpp"
#include "tests/sim/api_server_fixture.hpp"

namespace tutti::sim::api_server::testing {

namespace {

/// A directory that is gone after the test.
struct scratch {
  scratch() {
    auto text = (std::filesystem::temp_directory_path() / "tutti-api-XXXXXX").string();
    path = ::mkdtemp(text.data());
  }
  ~scratch() { std::filesystem::remove_all(path); }
  std::string path;
};

/// The client's end of a socket pair. Reads block until what they wait for is there.
class client {
public:
  explicit client(server& s) : fd_(s.connect().value()) {
    timeval longest{20, 0}; // a test that hangs fails instead
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &longest, sizeof longest);
  }
  ~client() { ::close(fd_); }

  void write(std::string_view bytes) {
    ASSERT_EQ(::send(fd_, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  }
  void send(std::string_view method, std::string_view target, std::string_view body = "") {
    const std::string type =
        method == "PATCH" ? "application/merge-patch+json" : "application/json";
    write(std::string{method} + " " + std::string{target}
          + " HTTP/1.1\r\nHost: x\r\nContent-Type: " + type
          + "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + std::string{body});
  }
  /// Reads until `text` has come; everything up to its end.
  std::string until(std::string_view text) {
    for (;;) {
      if (auto at = in_.find(text); at != std::string::npos) {
        auto out = in_.substr(0, at + text.size());
        in_.erase(0, at + text.size());
        return out;
      }
      if (!read_more())
        return in_ + "<end>";
    }
  }
  /// Status of the next answer; its body is skipped.
  int status() {
    auto head = until("\r\n\r\n");
    auto at = head.find("Content-Length: ");
    if (at == std::string::npos || head.size() < 12)
      return 0;
    auto size = std::stoul(head.substr(at + 16));
    while (in_.size() < size)
      if (!read_more())
        return 0;
    in_.erase(0, size);
    return std::stoi(head.substr(9, 3));
  }

private:
  bool read_more() {
    char buffer[4096];
    auto n = ::recv(fd_, buffer, sizeof buffer, 0);
    if (n > 0)
      in_.append(buffer, static_cast<std::size_t>(n));
    return n > 0;
  }
  int fd_;
  std::string in_;
};

constexpr auto pod_body =
    R"({"metadata":{"name":"a"},"spec":{"containers":[{"name":"c","image":"i"}]}})";

} // namespace

TEST(Server, answers_over_a_socket_pair_and_streams_what_others_write) {
  base::system_clock clock;
  auto s = server::open({}, clock);
  ASSERT_TRUE(s);
  client watcher{**s}, writer{**s};
  watcher.send("GET", "/api/v1/pods?watch=true");
  EXPECT_NE(watcher.until("\r\n\r\n").find("Transfer-Encoding: chunked"), std::string::npos);
  writer.send("POST", "/api/v1/namespaces/default/pods", pod_body);
  EXPECT_EQ(writer.status(), 201);
  EXPECT_NE(watcher.until("\n\r\n").find(R"({"type":"ADDED","object":{"kind":"Pod")"),
            std::string::npos);
}

TEST(Server, answers_pipelined_requests_in_order) {
  base::system_clock clock;
  auto s = server::open({}, clock);
  ASSERT_TRUE(s);
  client c{**s};
  c.send("POST", "/api/v1/namespaces/default/pods", pod_body);
  c.send("GET", "/api/v1/namespaces/default/pods/b");
  c.send("POST", "/api/v1/namespaces/default/pods", pod_body);
  EXPECT_EQ(c.status(), 201);
  EXPECT_EQ(c.status(), 404);
  EXPECT_EQ(c.status(), 409);
}

TEST(Server, keeps_what_it_acknowledged_over_a_restart) {
  base::system_clock clock;
  scratch dir;
  server::options o;
  o.data_dir = dir.path;
  revision last = 0;
  {
    auto s = server::open(o, clock);
    ASSERT_TRUE(s) << s.error().message();
    client c{**s};
    c.send("POST", "/api/v1/namespaces/default/pods", pod_body);
    ASSERT_EQ(c.status(), 201);
    c.send("DELETE", "/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical");
    ASSERT_EQ(c.status(), 200);
    last = (*s)->last_resource_version();
  }
  auto s = server::open(o, clock);
  ASSERT_TRUE(s) << s.error().message();
  EXPECT_EQ((*s)->last_resource_version(), last);
  client c{**s};
  c.send("GET", "/api/v1/namespaces/default/pods/a");
  EXPECT_EQ(c.status(), 200);
  c.send("GET", "/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical");
  EXPECT_EQ(c.status(), 404) << "what was deleted does not come back";
}

TEST(Server, F9_refuses_what_a_full_disk_cannot_take_and_serves_on) {
  base::system_clock clock;
  scratch dir;
  persistence::testing::crash_env env;
  server::options o;
  o.data_dir = dir.path;
  o.env = &env;
  auto s = server::open(o, clock);
  ASSERT_TRUE(s) << s.error().message();
  client c{**s};
  c.send("POST", "/api/v1/namespaces/default/pods", pod_body);
  ASSERT_EQ(c.status(), 201);
  const auto answers = [&c](int wanted) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{20};
    int got = 0;
    while (got != wanted && std::chrono::steady_clock::now() < end) {
      c.send("POST", "/api/v1/namespaces", R"({"metadata":{"generateName":"space-"}})");
      got = c.status();
    }
    return got == wanted;
  };
  env.disk().leave_free(o.disk_reserve / 2);
  EXPECT_TRUE(answers(500)) << "scarce: nothing new";
  c.send("PATCH", "/api/v1/namespaces/default/pods/a", R"({"metadata":{"labels":{"x":"y"}}})");
  EXPECT_EQ(c.status(), 200) << "but what changes what is there: fences, Leases, decisions";
  c.send("DELETE", "/api/v1/namespaces/default/pods/a?gracePeriodSeconds=0");
  EXPECT_EQ(c.status(), 200) << "and what makes room";
  EXPECT_FALSE((*s)->apply({json::parse(R"({"apiVersion": "v1", "kind": "Namespace",
                                            "metadata": {"name": "n"}})")
                                .as_object()}));
  env.disk().leave_free(0);
  EXPECT_TRUE(answers(500));
  c.send("GET", "/api/v1/namespaces/default");
  EXPECT_EQ(c.status(), 200);
  env.disk().leave_all_free();
  EXPECT_TRUE(answers(201)) << "without a restart";
}

TEST(Server, refuses_a_store_that_is_open_or_of_another_release) {
  base::system_clock clock;
  scratch dir;
  server::options o;
  o.data_dir = dir.path;
  {
    auto first = server::open(o, clock);
    ASSERT_TRUE(first);
    auto second = server::open(o, clock);
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().what(), base::code::locked);
  }
  o.kubernetes = "1.36";
  auto other = server::open(o, clock);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().what(), base::code::bad_input);
  o.kubernetes = "1.12";
  EXPECT_FALSE(server::open(o, clock));
}

/// Flips three bytes of a file.
void damage(const std::filesystem::path& file, std::uintmax_t at) {
  std::fstream f{file, std::ios::in | std::ios::out | std::ios::binary};
  for (const auto n : {at, at + 1, at + 2}) {
    f.seekg(static_cast<std::streamoff>(n));
    const auto byte = static_cast<char>(f.get() ^ 0x5a);
    f.seekp(static_cast<std::streamoff>(n));
    f.put(byte);
  }
}

TEST(Server, refuses_a_store_that_is_damaged_anywhere_or_reads_all_of_it) {
  namespace fs = std::filesystem;
  base::system_clock clock;
  scratch dir;
  server::options o;
  o.data_dir = dir.path;
  std::size_t objects = 0;
  for (int life = 0; life < 2;
       ++life) { // what the first has written is in one file after the second
    auto s = server::open(o, clock);
    ASSERT_TRUE(s) << s.error().message();
    client c{**s};
    for (int n = 0; n < 40 && life == 0; ++n) {
      auto body = std::string{pod_body};
      body.replace(body.find("\"a\""), 3, "\"a" + std::to_string(n) + "\"");
      c.send("POST", "/api/v1/namespaces/default/pods", body);
      ASSERT_EQ(c.status(), 201);
    }
    objects = (*s)->last_resource_version();
  }
  fs::path table;
  for (const auto& x : fs::recursive_directory_iterator{dir.path})
    if (x.path().extension() == ".sst")
      table = x.path();
  ASSERT_FALSE(table.empty());
  const auto size = fs::file_size(table);
  int refused = 0;
  constexpr std::uintmax_t tries = 16;
  for (std::uintmax_t n = 0; n < tries; ++n) {
    scratch other;
    fs::copy(dir.path, other.path,
             fs::copy_options::recursive | fs::copy_options::overwrite_existing);
    damage(fs::path{other.path} / fs::relative(table, dir.path), n * (size - 3) / tries);
    auto again = o;
    again.data_dir = other.path;
    const auto s = server::open(again, clock);
    if (!s) {
      ++refused;
      EXPECT_EQ(s.error().what(), base::code::corrupt) << n << ": " << s.error().message();
    } else {
      EXPECT_EQ((*s)->last_resource_version(), objects) << n;
      client c{**s};
      c.send("GET", "/api/v1/namespaces/default/pods/a39");
      EXPECT_EQ(c.status(), 200) << n;
    }
  }
  EXPECT_GT(refused, 8);
}

TEST(Server, says_that_its_port_is_in_use) {
  base::system_clock clock;
  server::options o;
  o.listen = listen_address{};
  auto first = server::open(o, clock);
  ASSERT_TRUE(first);
  o.listen->port = (*first)->port();
  auto second = server::open(o, clock);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().what(), base::code::already_exists);
  EXPECT_NE(second.error().hint(), "");
}

TEST(Server, applies_files_and_says_when_all_is_quiet) {
  base::system_clock clock;
  scratch dir;
  server::options o;
  o.data_dir = dir.path;
  auto s = server::open(o, clock);
  ASSERT_TRUE(s);
  auto pod = json::parse(pod_body).as_object();
  pod["apiVersion"] = "v1";
  pod["kind"] = "Pod";
  auto done = (*s)->apply({pod});
  ASSERT_TRUE(done) << done.error().message();
  EXPECT_EQ(done->created, 1u);
  EXPECT_EQ((*s)->requests().size(), 0u);
}

using Connection = ApiServer;

TEST_F(Connection, holds_an_answer_until_it_is_durable) {
  control_plane::options o;
  o.keeps.is_durable_at_once = false;
  start(o);
  plane->objects().mark_durable(plane->objects().last());
  connection c{*plane};
  c.receive("GET /api/v1/nodes HTTP/1.1\r\nHost: x\r\n\r\n");
  c.pump(clock.now());
  EXPECT_TRUE(c.output().starts_with("HTTP/1.1 200 OK\r\n"));
  c.output().clear();
  std::string body = pod_body;
  auto bytes = "POST /api/v1/namespaces/default/pods HTTP/1.1\r\nHost: x\r\nContent-Length: "
               + std::to_string(body.size()) + "\r\n\r\n" + body;
  for (char b : bytes)
    c.receive({&b, 1});
  c.receive(
      "GET /api/v1/namespaces/default/pods/a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  c.pump(clock.now());
  EXPECT_EQ(c.output(), "");
  plane->objects().mark_durable(plane->objects().last());
  c.pump(clock.now());
  EXPECT_TRUE(c.output().starts_with("HTTP/1.1 201 Created\r\n"));
  EXPECT_NE(c.output().find("HTTP/1.1 200 OK\r\n"), std::string::npos);
  EXPECT_TRUE(c.is_done());
}

TEST_F(Connection, turns_held_answers_into_errors_when_the_disk_fails) {
  control_plane::options o;
  o.keeps.is_durable_at_once = false;
  start(o);
  connection c{*plane};
  c.receive("GET /api/v1/nodes HTTP/1.1\r\nHost: x\r\n\r\n");
  c.pump(clock.now());
  c.fail("no space left on device");
  EXPECT_TRUE(c.output().starts_with("HTTP/1.1 500 Internal Server Error\r\n"));
  EXPECT_TRUE(c.is_done());
}

TEST_F(Connection, refuses_what_is_no_http) {
  connection c{*plane};
  c.receive("hello\r\n\r\n");
  c.pump(clock.now());
  EXPECT_TRUE(c.output().starts_with("HTTP/1.1 400 Bad Request\r\n"));
  EXPECT_TRUE(c.is_done());
}

} // namespace tutti::sim::api_server::testing
