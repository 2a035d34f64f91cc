// Starts and stops the parts by the project's own script.
#include "tests/live/control_plane.hpp"

#include <fstream>
#include <map>
#include <sstream>

#include <boost/json/serialize.hpp>
#include <fmt/core.h>
#include <unistd.h>

#include "tests/commands/creating.hpp"
#include "tests/commands/process.hpp"

namespace tutti::live {

namespace {

namespace json = boost::json;
using commands::process;
using namespace std::chrono_literals;

/// Two servers come up within four seconds on two idle cores.
constexpr auto start_patience = 120s;

std::string script(const std::string& name) {
  return std::string{TUTTI_SOURCE_DIR} + "/scripts/" + name;
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

std::map<std::string, std::string> settings_in(const std::string& path) {
  std::map<std::string, std::string> out;
  std::ifstream file{path};
  for (std::string line; std::getline(file, line);)
    if (const auto pos = line.find('='); pos != line.npos)
      out[line.substr(0, pos)] = line.substr(pos + 1);
  return out;
}

} // namespace

const std::string& why_none() {
  static const std::string why = [] {
    process look{{{script("kube_assets.sh"), "--find"}}};
    const auto how = look.wait();
    if (how && how->exit_code == 0)
      return std::string{};
    const auto said = first_line(look.err());
    return said.empty() ? std::string{"the assets of a control plane cannot be looked for"} : said;
  }();
  return why;
}

control_plane::control_plane(const arguments& more) {
  arguments command{script("control_plane.sh"), "start",   "-d",
                    home_.sub("plane"),         "--while", std::to_string(::getpid())};
  command.insert(command.end(), more.begin(), more.end());
  process start{{command}};
  const auto how = start.wait(start_patience);
  EXPECT_TRUE(how && how->exit_code == 0) << start.err();
  const auto settings = settings_in(home_.sub("plane/env"));
  if (!settings.contains("SERVER"))
    return;
  const auto& server = settings.at("SERVER");
  api_ = api_client{static_cast<std::uint16_t>(std::stoul(server.substr(server.rfind(':') + 1))),
                    {.ca_file = settings.at("CA_FILE"), .token = settings.at("ADMIN_TOKEN")}};
  etcd_port_ = static_cast<std::uint16_t>(std::stoul(settings.at("ETCD_PORT")));
}

control_plane::~control_plane() {
  process stop{{{script("control_plane.sh"), "stop", "-d", home_.sub("plane")}}};
  stop.wait();
}

std::string control_plane::kubeconfig(const std::string& who) const {
  return home_.sub("plane/kubeconfig" + (who.empty() ? "" : "-" + who));
}

void control_plane::control(arguments what) const {
  what.insert(what.begin(), script("control_plane.sh"));
  what.insert(what.end(), {"-d", home_.sub("plane")});
  process run{{what}};
  const auto how = run.wait(start_patience);
  EXPECT_TRUE(how && how->exit_code == 0) << run.err();
}

void control_plane::kill(const std::string& part) const {
  control({"kill", part});
}

void control_plane::start_again(const std::string& part) const {
  control({"again", part});
}

void control_plane::create(const std::string& manifest) const {
  commands::create(api_, manifest);
}

std::string file_in_source(const std::string& path) {
  std::ifstream file{std::string{TUTTI_SOURCE_DIR} + "/" + path};
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string given_to_plain_user(const std::string& role, const std::string& space) {
  const std::string kind = space.empty() ? "ClusterRole" : "Role";
  return fmt::format("---\napiVersion: rbac.authorization.k8s.io/v1\nkind: {1}Binding\n"
                     "metadata: {{name: {0}{2}}}\n"
                     "roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: {1}, name: {0}}}\n"
                     "subjects: [{{apiGroup: rbac.authorization.k8s.io, kind: User, name: "
                     "plain-user}}]\n",
                     role, kind, space.empty() ? "" : ", namespace: " + space);
}

commands::gang_text our_gang(std::string name, int members, int cpu, std::string more) {
  return {.name = std::move(name),
          .members = members,
          .min = members,
          .cpu = cpu,
          .more = ", schedulerName: tutti" + std::move(more)};
}

void expect_bound(const daemon& scheduler, const std::string& gang) {
  // Longer than the scheduler rests after a refusal for want of a right.
  const auto is_bound = [&] {
    return scheduler.ask({"wait", "gang/" + gang, "--timeout", "5"}).code() == 0;
  };
  EXPECT_TRUE(commands::eventually(is_bound, 60s)) << scheduler.ask({"explain", "gang", gang}).out;
}

daemon Live::start_scheduler(const control_plane& on, std::map<std::string, std::string> env,
                             const std::string& who) const {
  return daemon{{.what = {"--kubeconfig", on.kubeconfig(who), "--data-dir", home_.sub("scheduler")},
                 .environment = std::move(env),
                 .verb = "scheduler"}};
}

} // namespace tutti::live
