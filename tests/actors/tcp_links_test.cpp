// Replicas speak to each other over real sockets, and to nobody else.
#include "actors/tcp_links.hpp"

#include <atomic>
#include <map>
#include <mutex>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/write.hpp>
#include <gtest/gtest.h>

#include "protocol/link_frames.hpp"
#include "tests/actors/machine_files.hpp"
#include "tests/actors/waiting.hpp"
#include "tests/bridge/certificates.hpp"

namespace tutti::actors::testing {
namespace {

using namespace std::chrono_literals;
using base::code;
namespace asio = boost::asio;
namespace tls = testing_tls;

const tls::authority& ours() {
  static const tls::authority x{"our authority"};
  return x;
}

/// One replica: its links, and what they say.
struct side {
  std::string name;
  std::shared_ptr<files> disk = std::make_shared<files>();
  std::mutex mutex;
  std::vector<std::pair<std::string, std::string>> heard; // from, frame
  std::vector<std::pair<std::string, code>> changes;      // of links; ok: up
  std::string last_words;                                 // of the last change
  std::string last_hint;
  std::unique_ptr<tcp_links> links;

  explicit side(std::string n) : name(std::move(n)) {}
  ~side() {
    if (links)
      links->end();
  }

  tcp_links::options how() {
    tcp_links::options o;
    o.replica = name;
    o.cluster = "the cluster";
    o.listen = {"127.0.0.1", 0};
    o.machine = disk;
    o.times.heartbeat = 20ms;
    o.times.retry_first = 5ms;
    o.times.retry_longest = 20ms;
    o.changed = [this](const std::string& who, const base::error* why) {
      const std::lock_guard lock{mutex};
      changes.emplace_back(who, why == nullptr ? code::ok : why->what());
      last_words = why == nullptr ? "up" : why->message();
      last_hint = why == nullptr ? "" : why->hint();
    };
    return o;
  }
  void show(const tls::certified& who, const tls::authority& trusted = ours()) {
    disk->write("d/tls.crt", who.certificate);
    disk->write("d/tls.key", who.key);
    disk->write("d/ca.crt", trusted.certificate());
  }
  tcp_links::options with_tls() {
    auto o = how();
    o.tls = link_files{"d", {}};
    o.times.certificates_last = 20ms;
    return o;
  }
  void open(tcp_links::options o) {
    auto opened = tcp_links::open(std::move(o));
    ASSERT_TRUE(opened) << opened.error().message();
    links = std::move(*opened);
    links->begin([this](const std::string& from, std::string_view frame) {
      const std::lock_guard lock{mutex};
      heard.emplace_back(from, frame);
    });
  }
  void open_showing(const tls::certified& who, const tls::authority& trusted = ours()) {
    show(who, trusted);
    open(with_tls());
  }
  std::string address() const { return "127.0.0.1:" + std::to_string(links->port()); }
  void reaches(const side& other) { links->reach({{other.name, other.address()}}); }
  bool is_up() const {
    const auto all = links->states();
    return all.size() == 1 && all.front().is_up;
  }
  std::size_t count() {
    const std::lock_guard lock{mutex};
    return heard.size();
  }
  /// A link's end in this way was told, of whomever.
  bool was_told(code why) {
    const std::lock_guard lock{mutex};
    return std::any_of(changes.begin(), changes.end(),
                       [&](const auto& x) { return x.second == why; });
  }
  std::string hint() {
    const std::lock_guard lock{mutex};
    return last_hint;
  }
  std::string words() {
    const std::lock_guard lock{mutex};
    return last_words;
  }
};

TEST(TcpLinks, carry_what_is_said_in_order) {
  side a{"a"}, b{"b"};
  a.open(a.how());
  b.open(b.how());
  a.reaches(b);
  ASSERT_TRUE(eventually([&] { return a.is_up(); }));
  const std::string long_frame(3u << 20, 'x');
  for (int i = 0; i < 100; ++i)
    a.links->carry("b", i == 50 ? long_frame : std::to_string(i));
  ASSERT_TRUE(eventually([&] { return b.count() == 100; }));
  for (std::size_t i = 0; i < 100; ++i) {
    EXPECT_EQ(b.heard[i].first, "a");
    EXPECT_EQ(b.heard[i].second, i == 50 ? long_frame : std::to_string(i));
  }
  EXPECT_EQ(a.links->states().front().sent, 100u);
  EXPECT_EQ(a.count(), 0u) << "b has not been told where a is";
}

TEST(TcpLinks, come_back_with_a_replica_that_comes_back) {
  side a{"a"};
  a.open(a.how());
  std::uint16_t port = 0;
  {
    side b{"b"};
    b.open(b.how());
    port = b.links->port();
    a.reaches(b);
    ASSERT_TRUE(eventually([&] { return a.is_up(); }));
  }
  ASSERT_TRUE(eventually([&] { return !a.is_up(); }));
  a.links->carry("b", "nobody is there");
  EXPECT_EQ(a.links->states().front().dropped, 1u);
  side again{"b"};
  auto o = again.how();
  o.listen.port = port;
  again.open(std::move(o));
  ASSERT_TRUE(eventually([&] { return a.is_up(); })) << a.words();
  a.links->carry("b", "back");
  EXPECT_TRUE(eventually([&] { return again.count() == 1; }));
}

TEST(TcpLinks, end_with_the_life_of_a_replica) {
  side a{"a"}, b{"b"};
  a.open(a.how());
  b.open(b.how());
  a.reaches(b);
  ASSERT_TRUE(eventually([&] { return a.is_up(); }));
  a.links->reach({});
  ASSERT_TRUE(eventually([&] { return a.links->states().empty(); }));
  a.links->carry("b", "to nobody");
  a.reaches(b);
  EXPECT_TRUE(eventually([&] { return a.is_up(); }));
}

TEST(TcpLinks, refuse_a_replica_of_another_cluster) {
  side a{"a"}, b{"b"};
  a.open(a.how());
  auto other = b.how();
  other.cluster = "another cluster";
  b.open(std::move(other));
  a.reaches(b);
  EXPECT_TRUE(eventually([&] { return a.was_told(code::foreign); })) << a.words();
  EXPECT_FALSE(a.is_up());
}

TEST(TcpLinks, notice_that_another_replica_is_at_that_address) {
  side a{"a"}, b{"b"};
  a.open(a.how());
  b.open(b.how());
  a.links->reach({{"c", b.address()}});
  EXPECT_TRUE(eventually([&] { return a.was_told(code::foreign); })) << a.words();
}

/// A raw socket that is no replica.
struct stranger {
  asio::io_context io;
  asio::ip::tcp::socket socket{io};
  explicit stranger(const side& to) {
    socket.connect({asio::ip::address_v4::loopback(), to.links->port()});
  }
  void say(const std::string& bytes) {
    boost::system::error_code ignored;
    asio::write(socket, asio::buffer(bytes), ignored);
  }
  /// Everything up to the end of the connection.
  std::string rest() {
    std::string all;
    boost::system::error_code ec;
    asio::read(socket, asio::dynamic_buffer(all), ec);
    return all;
  }
};

TEST(TcpLinks, give_up_a_guest_that_does_not_greet) {
  side a{"a"};
  auto o = a.how();
  o.times.patience = 50ms;
  a.open(std::move(o));
  stranger x{a};
  (void)x.rest();
  EXPECT_TRUE(eventually([&] { return a.words() == "no greeting in time"; })) << a.words();
}

TEST(TcpLinks, give_up_a_guest_that_speaks_something_else) {
  side a{"a"};
  a.open(a.how());
  stranger x{a};
  x.say("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  (void)x.rest();
  EXPECT_TRUE(eventually([&] {
    return a.was_told(code::newer_format) || a.was_told(code::out_of_range);
  })) << a.words();
  EXPECT_EQ(a.count(), 0u);
}

TEST(TcpLinks, give_up_a_guest_that_falls_silent) {
  side a{"a"};
  auto o = a.how();
  o.times.silence = 500ms;
  a.open(std::move(o));
  stranger x{a};
  x.say(frame_of(protocol::frame_kind::hello, encode(protocol::link_hello{.replica = "b"}))
        + frame_of(protocol::frame_kind::envelope, "said"));
  const auto all = x.rest();
  EXPECT_EQ(a.count(), 1u);
  EXPECT_GT(all.size(), 8u * 2) << "it was told that we live, before";
}

/// Its queue does not grow while the other side does not read, and what is too much is counted.
TEST(TcpLinks, drop_what_a_peer_that_hangs_does_not_take) {
  side a{"a"};
  auto o = a.how();
  o.queue_bytes_most = 1u << 20;
  o.times.silence = 60s;
  a.open(std::move(o));
  asio::io_context io;
  asio::ip::tcp::acceptor listens{io, {asio::ip::address_v4::loopback(), 0}};
  a.links->reach({{"b", "127.0.0.1:" + std::to_string(listens.local_endpoint().port())}});
  auto hangs = listens.accept();
  const auto greeting =
      frame_of(protocol::frame_kind::hello, encode(protocol::link_hello{.replica = "b"}))
      + frame_of(protocol::frame_kind::heartbeat);
  asio::write(hangs, asio::buffer(greeting));
  ASSERT_TRUE(eventually([&] { return a.is_up(); }));
  const std::string frame(100'000, 'x');
  EXPECT_TRUE(eventually([&] {
    a.links->carry("b", frame);
    return a.links->states().front().dropped > 0;
  }));
}

TEST(TcpLinks, end_at_once_while_somebody_hangs) {
  side a{"a"};
  a.open(a.how());
  asio::io_context io;
  asio::ip::tcp::acceptor listens{io, {asio::ip::address_v4::loopback(), 0}};
  a.links->reach({{"b", "127.0.0.1:" + std::to_string(listens.local_endpoint().port())}});
  auto hangs = listens.accept();
  stranger x{a};
  const auto begun = std::chrono::steady_clock::now();
  a.links->end();
  EXPECT_LT(std::chrono::steady_clock::now() - begun, a.how().times.patience / 2);
}

// ---- TLS

TEST(TlsLinks, carry_between_replicas_that_show_certificates_for_their_names) {
  side a{"a"}, b{"b"};
  a.open_showing(ours().issue({.names = {"DNS:a"}}));
  b.open_showing(ours().issue({.names = {"DNS:b"}}));
  a.reaches(b);
  b.reaches(a);
  ASSERT_TRUE(eventually([&] { return a.is_up() && b.is_up(); })) << a.words() << b.words();
  a.links->carry("b", "to b");
  b.links->carry("a", "to a");
  EXPECT_TRUE(eventually([&] { return a.count() == 1 && b.count() == 1; }));
}

/// By the one that calls, and by the one that is called: each alone must notice.
TEST(TlsLinks, refuse_who_has_a_certificate_for_another_name) {
  side a{"a"}, b{"b"};
  a.open_showing(ours().issue({.names = {"DNS:a"}}));
  b.open_showing(ours().issue({.names = {"DNS:somebody"}}));
  a.reaches(b);
  EXPECT_TRUE(eventually([&] { return a.was_told(code::bad_input); })) << a.words();
  EXPECT_EQ(a.hint(), "look at tls.crt and ca.crt of both sides, and at --link-name");
  b.reaches(a);
  EXPECT_TRUE(eventually([&] { return a.was_told(code::forbidden); })) << a.words();
  EXPECT_FALSE(a.is_up());
  EXPECT_FALSE(b.was_told(code::ok)) << "it was greeted, and refused: that is no link";
}

TEST(TlsLinks, refuse_a_certificate_of_another_authority) {
  static const tls::authority other{"another authority"};
  side a{"a"}, b{"b"};
  a.open_showing(ours().issue({.names = {"DNS:a"}}));
  b.open_showing(other.issue({.names = {"DNS:b"}}));
  a.reaches(b);
  EXPECT_TRUE(eventually([&] { return a.was_told(code::bad_input); })) << a.words();
  b.reaches(a);
  b.links->carry("a", "in spite of it");
  EXPECT_TRUE(
      eventually([&] { return b.was_told(code::bad_input) || b.was_told(code::unavailable); }));
  EXPECT_EQ(a.count(), 0u);
}

TEST(TlsLinks, refuse_who_shows_none) {
  side a{"a"}, b{"b"};
  a.open_showing(ours().issue({.names = {"DNS:a"}}));
  b.open(b.how());
  b.reaches(a);
  EXPECT_TRUE(eventually([&] { return !b.words().empty(); }));
  EXPECT_FALSE(b.is_up());
  a.reaches(b);
  EXPECT_TRUE(
      eventually([&] { return a.was_told(code::bad_input) || a.was_told(code::unavailable); }));
  EXPECT_FALSE(a.is_up());
}

/// One that speaks TLS well and shows no certificate: it hears not even our name.
TEST(TlsLinks, say_nothing_to_who_shows_no_certificate) {
  side a{"a"};
  a.open_showing(ours().issue({.names = {"DNS:a"}}));
  stranger x{a};
  asio::ssl::context nobody{asio::ssl::context::tls_client};
  asio::ssl::stream<asio::ip::tcp::socket&> tls{x.socket, nobody};
  boost::system::error_code ec;
  tls.handshake(asio::ssl::stream_base::client, ec); // its side of TLS 1.3 is over before ours
  std::string heard;
  asio::read(tls, asio::dynamic_buffer(heard), ec);
  EXPECT_EQ(heard, "");
  EXPECT_TRUE(eventually([&] { return !a.words().empty(); }));
  EXPECT_EQ(a.count(), 0u);
}

TEST(TlsLinks, share_one_name_where_they_are_told_to) {
  side a{"a"}, b{"b"};
  const auto shared = ours().issue({.names = {"DNS:tutti-link"}});
  for (auto* x : {&a, &b}) {
    x->show(shared);
    auto o = x->with_tls();
    o.tls->common_name = "tutti-link";
    x->open(std::move(o));
  }
  a.reaches(b);
  EXPECT_TRUE(eventually([&] { return a.is_up(); })) << a.words();
}

TEST(TlsLinks, show_a_new_certificate_without_a_restart) {
  side a{"a"}, b{"b"};
  a.open_showing(ours().issue({.names = {"DNS:a"}}));
  b.open_showing(ours().issue({.names = {"DNS:b"}}));
  a.reaches(b);
  ASSERT_TRUE(eventually([&] { return a.is_up(); }));
  b.disk->write("d/tls.crt", "half of a certif");
  ASSERT_TRUE(eventually([&] { return b.was_told(code::bad_input); }))
      << "a damaged file is told, and does not matter yet";
  EXPECT_TRUE(a.is_up());
  b.show(ours().issue({.names = {"DNS:somebody"}}));
  EXPECT_TRUE(eventually([&] { return !a.is_up() && a.was_told(code::bad_input); })) << a.words();
  b.show(ours().issue({.names = {"DNS:b"}}));
  EXPECT_TRUE(eventually([&] { return a.is_up(); })) << a.words();
}

// ---- what cannot be opened

TEST(TcpLinks, do_not_share_a_port) {
  side a{"a"}, b{"b"};
  a.open(a.how());
  auto o = b.how();
  o.listen.port = a.links->port();
  const auto opened = tcp_links::open(std::move(o));
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().what(), code::already_exists);
}

TEST(TlsLinks, without_their_files_name_the_one_that_is_missing) {
  side a{"a"};
  const auto opened = tcp_links::open(a.with_tls());
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().what(), code::not_found);
  EXPECT_EQ(opened.error().message(), "d/tls.crt: No such file or directory");
  a.show(ours().issue({.names = {"DNS:a"}}));
  a.disk->write("d/tls.key", ours().issue({.names = {"DNS:a"}}).key);
  const auto mixed = tcp_links::open(a.with_tls());
  ASSERT_FALSE(mixed);
  EXPECT_EQ(mixed.error().message(),
            "d/tls.key: belongs to another certificate than the one beside it");
}

} // namespace
} // namespace tutti::actors::testing
