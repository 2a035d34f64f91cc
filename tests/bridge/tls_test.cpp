// TLS as a client of the Kubernetes API needs it, against a server that lives in the test.
#include <optional>
#include <thread>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "bridge/http_client.hpp"
#include "bridge/tls_context.hpp"
#include "mailbox.hpp"
#include "tls_server.hpp"

namespace tutti::bridge {
namespace {

using namespace testing_tls;

tls_material trusting(const std::string& authorities) {
  return {.authorities = {authorities, "ca"}};
}

/// A client, what it hears, and what it says of failures.
struct caller {
  mailbox<http_event> heard;
  mailbox<base::error> failures;
  std::unique_ptr<http_client> client;
  std::uint64_t last_id = 0;

  explicit caller(const tls_server& server, tls_material material, std::string host = "127.0.0.1")
      : caller(server.port(), std::move(material), std::move(host)) {}
  caller(std::uint16_t port, tls_material material, std::string host = "127.0.0.1",
         base::duration patience = limits::connect_timeout) {
    auto tls = std::make_shared<const tls_material>(std::move(material));
    begin(port, std::make_shared<fixed_identity>(identity{"Bearer t", std::move(tls)}),
          std::move(host), patience);
  }
  caller(const tls_server& server, std::shared_ptr<identity_source> who) {
    begin(server.port(), std::move(who), "127.0.0.1", limits::connect_timeout);
  }
  ~caller() { client.reset(); }

  void start(bool is_stream) {
    protocol::http_request x{"GET", "/version", {}, {}};
    x.is_stream = is_stream;
    client->start(++last_id, x, [this](http_event e) { heard.push(std::move(e)); });
  }
  /// The status of an answer; 0 = there was none.
  int get() {
    start(false);
    const auto e = heard.pop();
    const auto* answer = std::get_if<protocol::answered>(&e);
    return answer == nullptr ? 0 : answer->status;
  }
  /// Asks, must not get an answer, and says what was said.
  base::error refusal() {
    const int status = get();
    EXPECT_EQ(status, 0) << "it should not have been spoken to";
    return status == 0 ? failures.pop() : base::error{};
  }

private:
  void begin(std::uint16_t port, std::shared_ptr<identity_source> who, std::string host,
             base::duration patience) {
    client = std::make_unique<http_client>(
        connect_by_tls({std::move(host), port, patience}),
        http_client::options{.host_header = "api.example:6443",
                             .who = std::move(who),
                             .failed = [this](const base::error& e, bool) { failures.push(e); }});
  }
};

/// One authority for all tests: keys take time to make.
const authority& ours() {
  static const authority x{"our authority"};
  return x;
}

certified for_names(std::vector<std::string> names) {
  return ours().issue({.common_name = "server", .names = std::move(names)});
}

tls_server::options answering(certified identity) {
  return {.identity = std::move(identity),
          .answer = [](const served&) { return http_answer(200, "{}"); }};
}

void expect_words(const base::error& e, std::initializer_list<const char*> words) {
  const auto text = e.message() + "\n" + e.hint();
  for (const auto* word : words)
    EXPECT_NE(text.find(word), std::string::npos) << "lacks \"" << word << "\": " << text;
  EXPECT_FALSE(e.hint().empty()) << text;
}

TEST(Tls, carries_requests_to_a_server_whose_certificate_is_good) {
  mailbox<served> seen;
  auto how = answering(for_names({"IP:127.0.0.1"}));
  how.answer = [&](const served& x) {
    seen.push(x);
    return http_answer(200, "{}");
  };
  tls_server server{how};
  caller one{server, trusting(ours().certificate())};
  EXPECT_EQ(one.get(), 200);
  const auto asked = seen.pop();
  EXPECT_EQ(asked.target, "/version");
  EXPECT_EQ(asked.host, "api.example:6443");
  EXPECT_EQ(asked.authorization, "Bearer t");
  EXPECT_EQ(asked.client, "");
}

TEST(Tls, keeps_its_connections) {
  tls_server server{answering(for_names({"IP:127.0.0.1"}))};
  caller one{server, trusting(ours().certificate())};
  EXPECT_EQ(one.get(), 200);
  EXPECT_EQ(one.get(), 200);
  EXPECT_EQ(server.handshakes(), 1);
}

TEST(Tls, hands_on_a_watch_in_lines) {
  auto how = answering(for_names({"IP:127.0.0.1"}));
  how.answer = [](const served&) {
    return std::string{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                       "8\r\n{\"a\":1}\n\r\n8\r\n{\"a\":2}\n\r\n0\r\n\r\n"};
  };
  tls_server server{how};
  caller one{server, trusting(ours().certificate())};
  one.start(true);
  EXPECT_TRUE(std::holds_alternative<protocol::stream_opened>(one.heard.pop()));
  std::string lines;
  for (auto e = one.heard.pop(); !std::holds_alternative<protocol::stream_closed>(e);
       e = one.heard.pop())
    lines += std::get<protocol::stream_lines>(e).lines;
  EXPECT_EQ(lines, "{\"a\":1}\n{\"a\":2}\n");
}

TEST(Tls, calls_a_server_by_a_name_of_its_certificate) {
  tls_server server{answering(for_names({"DNS:localhost"}))};
  EXPECT_EQ((caller{server, trusting(ours().certificate()), "localhost"}.get()), 200);
}

TEST(Tls, another_host_s_certificate_is_refused_before_a_byte_is_sent) {
  tls_server server{answering(for_names({"DNS:other.example", "IP:10.0.0.1"}))};
  caller one{server, trusting(ours().certificate())};
  const auto e = one.refusal();
  EXPECT_EQ(e.what(), base::code::bad_input);
  expect_words(e, {"is for other.example, 10.0.0.1, not for 127.0.0.1", "tls-server-name"});
  EXPECT_EQ(server.requests(), 0);
}

TEST(Tls, an_address_that_is_no_address_is_not_read_beyond_its_end) {
  tls_server server{answering(ours().issue({.names_der = "30:03:87:01:41"}))}; // one byte, "A"
  caller one{server, trusting(ours().certificate())};
  expect_words(one.refusal(), {"is for an address of no kind, not for 127.0.0.1"});
}

/// A name that no server may have: `bytes` as they are.
certified for_raw_name(std::string_view bytes) {
  const auto size = bytes.size() + 4; // both lengths have two bytes of their own
  auto der = fmt::format("30:82:{:02x}:{:02x}:82:82:{:02x}:{:02x}", size >> 8, size & 0xff,
                         bytes.size() >> 8, bytes.size() & 0xff);
  for (const unsigned char c : bytes)
    der += fmt::format(":{:02x}", c);
  return ours().issue({.names_der = der});
}

TEST(Tls, a_name_writes_no_lines_and_no_codes_of_a_terminal_into_an_error) {
  tls_server server{answering(for_raw_name("a\nerror: b\x1b[2Jc\x7f\xc2\x9b"
                                           "d"))};
  caller one{server, trusting(ours().certificate())};
  expect_words(one.refusal(), {"is for a?error: b?[2Jc???d, not for 127.0.0.1"});
}

TEST(Tls, a_name_is_shown_as_far_as_a_name_can_be_long) {
  tls_server server{answering(for_raw_name(std::string(1000, 'x')))};
  caller one{server, trusting(ours().certificate())};
  expect_words(one.refusal(), {(" for " + std::string(253, 'x') + "…, not").c_str()});
}

TEST(Tls, the_name_to_expect_may_be_another_than_the_host) {
  tls_server server{answering(for_names({"DNS:other.example"}))};
  auto material = trusting(ours().certificate());
  material.server_name = "other.example";
  EXPECT_EQ((caller{server, material}.get()), 200);
}

TEST(Tls, a_common_name_alone_is_no_name) {
  tls_server server{answering(ours().issue({.common_name = "localhost"}))};
  caller one{server, trusting(ours().certificate()), "localhost"};
  expect_words(one.refusal(), {"is for no name at all, not for localhost"});
}

TEST(Tls, an_expired_certificate_is_refused_with_its_date) {
  tls_server server{answering(
      ours().issue({.names = {"IP:127.0.0.1"}, .valid_from_days = -3, .valid_to_days = -1}))};
  caller one{server, trusting(ours().certificate())};
  const auto e = one.refusal();
  EXPECT_EQ(e.what(), base::code::bad_input);
  expect_words(e, {"has expired at 20", "Z", "clock"});
  EXPECT_EQ(server.requests(), 0);
}

TEST(Tls, a_certificate_of_tomorrow_is_refused) {
  tls_server server{answering(
      ours().issue({.names = {"IP:127.0.0.1"}, .valid_from_days = 1, .valid_to_days = 2}))};
  caller one{server, trusting(ours().certificate())};
  expect_words(one.refusal(), {"is not valid before 20", "clocks"});
}

TEST(Tls, an_unknown_authority_is_refused_with_its_name) {
  const authority theirs{"their authority"};
  tls_server server{answering(theirs.issue({.names = {"IP:127.0.0.1"}}))};
  caller one{server, trusting(ours().certificate())};
  const auto e = one.refusal();
  EXPECT_EQ(e.what(), base::code::bad_input);
  expect_words(e, {"unknown authority", "their authority", "certificate-authority"});
  EXPECT_EQ(server.requests(), 0);
}

TEST(Tls, without_authorities_of_its_own_it_trusts_those_of_the_system_only) {
  tls_server server{answering(for_names({"IP:127.0.0.1"}))};
  caller one{server, tls_material{}};
  expect_words(one.refusal(), {"unknown authority"});
}

TEST(Tls, every_certificate_of_the_file_is_trusted_also_the_server_s_own) {
  const auto alone = self_signed({.names = {"IP:127.0.0.1"}});
  tls_server server{answering(alone)};
  EXPECT_EQ((caller{server, trusting(ours().certificate() + alone.certificate)}.get()), 200);
  EXPECT_NE((caller{server, trusting(ours().certificate())}.get()), 200);
}

TEST(Tls, an_authority_is_trusted_without_the_one_above_it) {
  const authority middle{"middle", ours()};
  tls_server server{answering(middle.issue({.names = {"IP:127.0.0.1"}}))};
  EXPECT_EQ((caller{server, trusting(middle.certificate())}.get()), 200);
}

TEST(Tls, nobody_is_checked_where_the_verification_is_skipped) {
  const authority theirs{"their authority"};
  tls_server server{answering(theirs.issue({.names = {"DNS:other.example"}}))};
  EXPECT_EQ((caller{server, tls_material{.skips_verification = true}}.get()), 200);
}

struct TlsWithClients : testing::Test {
  tls_server::options how = answering(for_names({"IP:127.0.0.1"}));
  tls_material material = trusting(ours().certificate());
  mailbox<served> seen;

  TlsWithClients() {
    how.client_authority = ours().certificate();
    how.answer = [this](const served& x) {
      seen.push(x);
      return http_answer(200, "{}");
    };
  }
  void show(const certified& x) {
    material.certificate = {x.certificate, "client-certificate"};
    material.key = {x.key, "client-key"};
  }
};

TEST_F(TlsWithClients, shows_its_certificate) {
  tls_server server{how};
  show(ours().issue({.common_name = "system:kube-scheduler"}));
  EXPECT_EQ((caller{server, material}.get()), 200);
  EXPECT_EQ(seen.pop().client, "system:kube-scheduler");
}

TEST_F(TlsWithClients, says_that_the_server_wants_one) {
  tls_server server{how};
  caller one{server, material};
  expect_words(one.refusal(), {"wants a client certificate", "client-certificate and client-key"});
}

TEST_F(TlsWithClients, says_that_the_server_does_not_accept_it) {
  tls_server server{how};
  show(authority{"their authority"}.issue({}));
  caller one{server, material};
  expect_words(one.refusal(), {"does not accept our client certificate"});
}

TEST_F(TlsWithClients, connects_anew_for_another_certificate) {
  class two_faces final : public identity_source {
  public:
    identity_ptr current;
    identity_ptr known() const override { return current; }
    base::result<identity_ptr> fetch(const identity_ptr&) override { return current; }
    void give_up() noexcept override {}
  };
  const auto face = [&](const char* name) {
    show(ours().issue({.common_name = name}));
    return std::make_shared<const identity>(
        identity{"", std::make_shared<const tls_material>(material)});
  };
  const auto who = std::make_shared<two_faces>();
  who->current = face("first");
  tls_server server{how};
  caller one{server, who};
  EXPECT_EQ(one.get(), 200);
  EXPECT_EQ(seen.pop().client, "first");
  who->current = face("second"); // nothing is under way: no other thread looks
  EXPECT_EQ(one.get(), 200);
  EXPECT_EQ(seen.pop().client, "second");
}

TEST(Tls, a_server_of_yesterday_is_refused) {
  auto how = answering(for_names({"IP:127.0.0.1"}));
  how.is_old = true;
  tls_server server{how};
  caller one{server, trusting(ours().certificate())};
  expect_words(one.refusal(), {"neither TLS 1.2 nor 1.3"});
}

/// Accepts, and says `greeting` or nothing.
struct odd_listener {
  explicit odd_listener(std::string words) : greeting(std::move(words)) {
    acceptor.async_accept([this](boost::system::error_code ec, boost::asio::ip::tcp::socket x) {
      if (ec)
        return;
      peer.emplace(std::move(x));
      if (!greeting.empty())
        peer->write_some(boost::asio::buffer(greeting), ec);
    });
    thread = std::thread{[this] { io.run(); }};
  }
  ~odd_listener() {
    io.stop();
    thread.join();
  }
  std::uint16_t port() const { return acceptor.local_endpoint().port(); }

  std::string greeting;
  boost::asio::io_context io;
  boost::asio::ip::tcp::acceptor acceptor{io, {boost::asio::ip::address_v4::loopback(), 0}};
  std::optional<boost::asio::ip::tcp::socket> peer;
  std::thread thread;
};

TEST(Tls, a_server_that_speaks_plain_http_is_told_from_one_that_does_not) {
  odd_listener plain{"HTTP/1.1 400 Bad Request\r\n\r\n"};
  caller one{plain.port(), trusting(ours().certificate())};
  const auto e = one.refusal();
  EXPECT_EQ(e.what(), base::code::bad_input);
  expect_words(e, {"no TLS is spoken there", "http://"});
}

TEST(Tls, a_server_that_says_nothing_is_given_up) {
  odd_listener silent{""};
  caller one{silent.port(), trusting(ours().certificate()), "127.0.0.1",
             std::chrono::milliseconds{300}};
  const auto e = one.refusal();
  EXPECT_EQ(e.what(), base::code::unavailable);
  expect_words(e, {"no end of the TLS handshake in time"});
}

TEST(Tls, a_server_that_accepts_nobody_is_given_up) {
  boost::asio::io_context io;
  using boost::asio::ip::tcp;
  tcp::acceptor full{io};
  full.open(tcp::v4());
  full.bind({boost::asio::ip::address_v4::loopback(), 0});
  full.listen(0);
  std::vector<tcp::socket> waiting; // the kernel keeps one or two, and answers no more
  for (int i = 0; i < 4; ++i) {
    waiting.emplace_back(io, tcp::v4());
    waiting.back().non_blocking(true);
    const auto where = full.local_endpoint();
    ::connect(waiting.back().native_handle(), where.data(),
              static_cast<socklen_t>(where.size())); // does not wait
  }
  caller one{full.local_endpoint().port(), trusting(ours().certificate()), "127.0.0.1",
             std::chrono::milliseconds{300}};
  const auto e = one.refusal();
  EXPECT_EQ(e.what(), base::code::unavailable);
  expect_words(e, {"no answer within 300 ms"});
}

TEST(Tls, nobody_listening_is_said) {
  caller one{1, trusting(ours().certificate())};
  const auto e = one.refusal();
  EXPECT_EQ(e.what(), base::code::unavailable);
  expect_words(e, {"nobody listens there"});
}

TEST(Tls, a_name_that_nobody_knows_is_said) {
  const std::string name(70, 'x'); // longer than a label may be: no name server is asked
  caller one{1, trusting(ours().certificate()), name};
  expect_words(one.refusal(), {"the name xxx", "is not known", "DNS"});
}

// ---------------------------------------------------------------- what is checked before

struct bad_material {
  const char* name;
  tls_material material;
  const char* must_say;
};

/// The head of a PEM text that is locked, as old programs write it.
std::string locked(std::string certificate) {
  const auto line_end = certificate.find('\n') + 1;
  return certificate.insert(line_end, "Proc-Type: 4,ENCRYPTED\n"
                                      "DEK-Info: AES-256-CBC,00112233445566778899AABBCCDDEEFF\n\n");
}

std::vector<bad_material> bad_materials() {
  const auto mine = ours().issue({});
  const auto other = ours().issue({});
  const auto with = [](std::string certificate, std::string key) {
    return tls_material{.certificate = {std::move(certificate), "CERTIFICATE"},
                        .key = {std::move(key), "KEY"}};
  };
  return {
      {"authorities_that_are_none", trusting("hello"), "ca: holds no certificate"},
      {"a_damaged_authority",
       trusting(ours().certificate()
                + "-----BEGIN CERTIFICATE-----\nMIIB\n"
                  "-----END CERTIFICATE-----\n"),
       "ca: holds a damaged certificate"},
      {"a_locked_authority", trusting(locked(ours().certificate())),
       "ca: holds a certificate that is locked with a password"},
      {"a_locked_certificate", with(locked(mine.certificate), mine.key),
       "CERTIFICATE: holds a certificate that is locked with a password"},
      {"a_certificate_that_is_none", with("hello", mine.key), "CERTIFICATE: holds no certificate"},
      {"a_key_that_is_none", with(mine.certificate, "hello"), "KEY: holds no private key"},
      {"another_s_key", with(mine.certificate, other.key), "KEY: belongs to another certificate"},
      {"a_locked_key", with(mine.certificate, with_password(mine.key)), "KEY: needs a password"},
  };
}

TEST(TlsMaterial, that_is_of_no_use_is_refused_in_words) {
  for (const auto& x : bad_materials()) {
    const auto said = check_tls_material(x.material);
    ASSERT_FALSE(said) << x.name;
    EXPECT_EQ(said.error().what(), base::code::bad_input) << x.name;
    expect_words(said.error(), {x.must_say});
  }
  const auto mine = ours().issue({});
  EXPECT_TRUE(check_tls_material({.authorities = {ours().certificate(), "ca"},
                                  .certificate = {mine.certificate, "c"},
                                  .key = {mine.key, "k"}}));
}

} // namespace
} // namespace tutti::bridge
