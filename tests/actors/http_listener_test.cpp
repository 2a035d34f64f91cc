// The small HTTP server: what it answers, and what it does not suffer.
#include "actors/http_listener.hpp"

#include <atomic>
#include <string>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <gtest/gtest.h>

namespace tutti::actors {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;

struct HttpListener : ::testing::Test {
  std::atomic<int> asked = 0;
  std::unique_ptr<http_listener> it;

  void SetUp() override {
    auto opened =
        http_listener::open("127.0.0.1", 0, [this](const auto& method, const auto& target) {
          ++asked;
          return http_reply{200, "text/plain", method + " " + target + "\n"};
        });
    ASSERT_TRUE(opened) << opened.error().message();
    it = std::move(*opened);
  }

  /// Sends the bytes, and reads until the other side closes.
  std::string talk(const std::string& bytes) {
    asio::io_context io;
    tcp::socket peer{io};
    peer.connect({asio::ip::make_address("127.0.0.1"), it->port()});
    boost::system::error_code ec;
    asio::write(peer, asio::buffer(bytes), ec);
    std::string out;
    asio::read(peer, asio::dynamic_buffer(out), ec);
    return out;
  }
};

TEST_F(HttpListener, answers_and_closes_when_asked_to) {
  const auto said = talk("GET /livez HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
  EXPECT_TRUE(said.starts_with("HTTP/1.1 200 OK\r\n")) << said;
  EXPECT_TRUE(said.ends_with("\r\n\r\nGET /livez\n")) << said;
}

TEST_F(HttpListener, answers_one_request_after_the_other_on_one_connection) {
  const auto said = talk("GET /a HTTP/1.1\r\nhost: x\r\n\r\n"
                         "GET /b HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
  EXPECT_NE(said.find("GET /a\n"), std::string::npos);
  EXPECT_TRUE(said.ends_with("GET /b\n")) << said;
}

TEST_F(HttpListener, a_head_request_gets_no_body) {
  const auto said = talk("HEAD /livez HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n");
  EXPECT_TRUE(said.ends_with("\r\n\r\n")) << said;
  EXPECT_NE(said.find("content-length: 12"), std::string::npos);
}

TEST_F(HttpListener, what_is_no_request_ends_the_connection_and_nothing_else) {
  const std::string not_http("\x16\x03\x01\x02\x00 this is no HTTP\r\n\r\n", 26);
  EXPECT_EQ(talk(not_http), "");
  EXPECT_EQ(asked, 0);
  EXPECT_NE(talk("GET /a HTTP/1.1\r\nconnection: close\r\n\r\n"), "") << "others are served";
}

TEST_F(HttpListener, a_request_without_end_is_cut_off) {
  const auto endless = "GET / HTTP/1.1\r\nx: " + std::string(200 * 1024, 'y');
  EXPECT_EQ(talk(endless), "");
  EXPECT_EQ(asked, 0);
}

TEST_F(HttpListener, a_port_in_use_is_said_with_a_hint) {
  const auto second = http_listener::open("127.0.0.1", it->port(), {});
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().what(), base::code::already_exists);
  EXPECT_NE(second.error().message().find(std::to_string(it->port())), std::string::npos);
  EXPECT_FALSE(second.error().hint().empty());
}

TEST_F(HttpListener, an_address_of_another_machine_is_bad_input) {
  EXPECT_EQ(http_listener::open("192.0.2.1", 0, {}).error().what(), base::code::bad_input);
  EXPECT_EQ(http_listener::open("localhorst", 0, {}).error().what(), base::code::bad_input);
}

TEST_F(HttpListener, stops_while_a_client_stays_connected) {
  asio::io_context io;
  tcp::socket peer{io};
  peer.connect({asio::ip::make_address("127.0.0.1"), it->port()});
  it.reset();
  char byte = 0;
  boost::system::error_code ec;
  asio::read(peer, asio::buffer(&byte, 1), ec);
  EXPECT_TRUE(ec);
}

TEST(HostPort, has_a_default_host_and_no_default_port) {
  EXPECT_EQ(parse_host_port(":0")->host, "127.0.0.1");
  EXPECT_EQ(parse_host_port("10451")->port, 10451);
  EXPECT_EQ(parse_host_port("0.0.0.0:80")->host, "0.0.0.0");
  for (const auto* bad : {"", ":", "x:y", "127.0.0.1:", "127.0.0.1:70000", ":-1", ":80x"})
    EXPECT_FALSE(parse_host_port(bad)) << bad;
}

} // namespace
} // namespace tutti::actors
