// How the program is started, asked and stopped in tests.
#include "tutti.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

#include <gtest/gtest.h>

namespace tutti::commands {

namespace fs = std::filesystem;

namespace {

arguments with(arguments x, const arguments& more) {
  x.insert(x.end(), more.begin(), more.end());
  return x;
}

/// "… http://127.0.0.1:4711" → "127.0.0.1:4711".
std::string address_in(const std::string& line) {
  return line.substr(line.find("http://") + 7);
}

std::uint16_t port_in(const std::string& address) {
  return static_cast<std::uint16_t>(std::stoul(address.substr(address.rfind(':') + 1)));
}

bool has(const arguments& all, const std::string& flag) {
  return std::find(all.begin(), all.end(), flag) != all.end();
}

/// Every cluster of a test has the same uids, unless it says otherwise or has no API server.
arguments seeded(arguments x) {
  return has(x, "--server") || has(x, "--seed") ? x : with(x, {"--seed", "1"});
}

arguments daemon_arguments(const daemon::options& how) {
  auto all = with({how.verb}, how.what);
  if (how.verb == "local")
    all = seeded(std::move(all));
  if (how.listens)
    all = with(all, {"--listen", "127.0.0.1:0"});
  return with(all, {"--admin", how.has_admin ? how.admin : ""});
}

} // namespace

temp_dir::temp_dir() {
  auto text = (fs::temp_directory_path() / "tutti-test-XXXXXX").string();
  if (::mkdtemp(text.data()) == nullptr)
    throw std::runtime_error("cannot make a temporary directory");
  path_ = text;
}

temp_dir::~temp_dir() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

std::string temp_dir::file(const std::string& name, const std::string& content) const {
  const auto path = sub(name);
  std::ofstream{path} << content;
  return path;
}

std::string example(const std::string& name) {
  return std::string{TUTTI_SOURCE_DIR} + "/examples/" + name;
}

outcome run_in_shell(const std::string& command) {
  process child{{{"/bin/sh", "-c", command}, {{"TUTTI", TUTTI_BINARY}}}};
  const auto how = child.wait();
  EXPECT_TRUE(how) << command << " does not end; it said:\n" << child.err();
  return {how.value_or(ending{}), child.out(), child.err()};
}

process start(arguments what, std::map<std::string, std::string> environment) {
  environment.try_emplace("TUTTI_SERVER", "127.0.0.1:1"); // nobody: a test names its own daemon
  return process{{with({TUTTI_BINARY}, what), std::move(environment)}};
}

outcome run(arguments what, std::map<std::string, std::string> environment, std::string input) {
  environment.try_emplace("TUTTI_SERVER", "127.0.0.1:1");
  process child{{with({TUTTI_BINARY}, what), std::move(environment), std::move(input)}};
  const auto how = child.wait();
  EXPECT_TRUE(how) << "tutti " << what.front() << " does not end; it said:\n" << child.err();
  return {how.value_or(ending{}), child.out(), child.err()};
}

arguments local_in(const temp_dir& home, arguments more) {
  return seeded(with({"local", "--data-dir", home.sub("data"), "--admin", ""}, more));
}

daemon::daemon(options how) : process_(start(daemon_arguments(how), how.environment)) {
  if (how.listens) {
    const auto line = process_.line_with("API server");
    EXPECT_TRUE(line || how.may_die) << process_.err();
    is_up_ &= line.has_value();
    if (line)
      api_ = api_client{port_in(address_in(*line))};
  }
  if (how.has_admin) {
    const auto line = process_.line_with("admin address");
    EXPECT_TRUE(line || how.may_die) << process_.err();
    is_up_ &= line.has_value();
    if (line)
      admin_ = address_in(*line);
  }
}

api_client daemon::admin_client() const {
  return api_client{port_in(admin_)};
}

outcome daemon::ask(arguments verb) const {
  return run(with(std::move(verb), {"--server", admin_}));
}

void daemon::settle() const {
  const auto said = ask({"wait", "--for", "settled", "--timeout", "12"});
  EXPECT_EQ(said.code(), 0) << said.err;
}

void daemon::stop() {
  process_.send(SIGTERM);
  const auto how = process_.wait();
  EXPECT_TRUE(how && *how == (ending{0, 0})) << how.value_or(ending{}) << "\n" << process_.err();
}

} // namespace tutti::commands
