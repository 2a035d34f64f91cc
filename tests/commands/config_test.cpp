// `tutti scheduler --config`: what the file says, what goes before it, and what is refused.
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "cli/config_file.hpp"
#include "judge.hpp"
#include "manifests.hpp"
#include "tutti.hpp"

namespace tutti::commands {
namespace {

constexpr const char* head = "apiVersion: tutti.dev/v1alpha1\nkind: GangSchedulerConfiguration\n";

constexpr const char* all_settings = R"(apiVersion: tutti.dev/v1alpha1
kind: GangSchedulerConfiguration
clientConnection:
  kubeconfig: some/kubeconfig
  context: prod
  qps: 50
  burst: 100
profiles:
  - schedulerName: tutti
  - schedulerName: tutti-batch
topology:
  levels:
    - example.com/block
    - example.com/rack
store:
  dataDir: some/store
  shards: 4
  diskReserve: 1073741824
reservation:
  longPath: true
degraded:
  repairDeadline: 90s
  evict: true
events:
  steps: true
replica:
  name: a
  link:
    listen: 0.0.0.0:10452
    address: 10.0.0.1:10452
    tlsDir: some/tls
    certificateName: tutti-link
  leaseDuration: 6s
admin:
  address: 127.0.0.1:4711
preemption:
  allowed: true
  policy: upstream
  exempt: queue in (a,b)
  minRuntime: 600s
  evictionsPerMinute: 100
)";

class Config : public testing::Test {
protected:
  outcome in_force(const std::string& text, arguments more = {},
                   std::map<std::string, std::string> env = {}) const {
    arguments what{"scheduler", "--config", home_.file("config.yaml", text), "--write-config-to",
                   "-"};
    what.insert(what.end(), more.begin(), more.end());
    return run(what, std::move(env));
  }
  temp_dir home_;
};

TEST_F(Config, in_force_is_written_as_a_file_that_says_the_same) {
  const auto said = in_force(all_settings);
  EXPECT_EQ(said.code(), 0) << said.err;
  EXPECT_EQ(said.out, all_settings);
}

TEST_F(Config, of_a_flag_goes_before_the_file_and_the_environment_between_them) {
  const auto said = in_force(all_settings, {"--shards", "16", "--admin", ""},
                             {{"TUTTI_DATA_DIR", "from/the/environment"}});
  EXPECT_NE(said.out.find("shards: 16\n"), std::string::npos) << said.out;
  EXPECT_NE(said.out.find("address: \"\"\n"), std::string::npos) << said.out;
  EXPECT_NE(said.out.find("dataDir: from/the/environment\n"), std::string::npos) << said.out;
  EXPECT_NE(said.out.find("repairDeadline: 90s\n"), std::string::npos) << said.out;
}

TEST_F(Config, of_several_names_makes_their_pods_ours_and_no_others) {
  auto gang = [](std::string name, const std::string& scheduler) {
    return manifest(gang_text{.name = std::move(name), .more = ", schedulerName: " + scheduler});
  };
  const auto world =
      home_.file("world.yaml", nodes_in_racks(4) + gang("one", "tutti") + gang("two", "batch")
                                   + gang("theirs", "default-scheduler"));
  daemon api{{.what = {"--serve-only", "--data-dir", home_.sub("api"), "-f", world},
              .listens = true,
              .has_admin = false}};
  const auto server = "http://127.0.0.1:" + std::to_string(api.api().port());
  home_.file("kubeconfig", "clusters: [{name: c, cluster: {server: \"" + server
                               + "\"}}]\ncontexts: [{name: x, context: {cluster: c}}]\n"
                                 "current-context: x\n");
  const auto config = home_.file(
      "config.yaml", std::string{head} + "clientConnection: {kubeconfig: " + home_.sub("kubeconfig")
                         + "}\nprofiles: [{schedulerName: tutti}, {schedulerName: batch}]\n"
                           "store: {dataDir: "
                         + home_.sub("scheduler") + "}\n");
  daemon scheduler{{.what = {"--config", config}, .verb = "scheduler"}};
  for (const char* name : {"gang/one", "gang/two"})
    EXPECT_EQ(scheduler.ask({"wait", name, "--timeout", "12"}).code(), 0) << name;
  scheduler.stop();
  const auto seen = look_at(api.api());
  EXPECT_EQ(seen.bound_of("one"), 2);
  EXPECT_EQ(seen.bound_of("two"), 2);
  EXPECT_EQ(seen.bound_of("theirs"), 0);
  api.stop();
}

struct bad_config {
  const char* name;
  std::string text;
  const char* message; ///< behind the name of the file
  const char* hint;
};
void PrintTo(const bad_config& x, std::ostream* out) {
  *out << x.name;
}

const std::vector<bad_config>& bad_configs() {
  static const std::string h = head;
  static const std::vector<bad_config> all{
      {"no_yaml", "a: [", "document 1", ""},
      {"empty", "", "is no single object", "begin with apiVersion: tutti.dev/v1alpha1"},
      {"no_version", "kind: GangSchedulerConfiguration\n", "apiVersion is missing",
       "write apiVersion: tutti.dev/v1alpha1"},
      {"newer_version", "apiVersion: tutti.dev/v9\nkind: GangSchedulerConfiguration\n",
       "apiVersion: \"tutti.dev/v9\" is not known", "write apiVersion: tutti.dev/v1alpha1"},
      {"other_kind", "apiVersion: tutti.dev/v1alpha1\nkind: KubeSchedulerConfiguration\n",
       "kind: \"KubeSchedulerConfiguration\" is not known",
       "write kind: GangSchedulerConfiguration"},
      {"misspelt", h + "store: {dataDri: x}\n", "store.dataDri: there is no such field",
       "did you mean store.dataDir?"},
      {"unknown", h + "leaderElection: {leaderElect: true}\n",
       "leaderElection: there is no such field", "docs/reference/configuration.md has them all"},
      {"no_object", h + "store: here\n", "store is no object", ""},
      {"no_number", h + "store: {shards: many}\n", "store.shards is no such number",
       "allowed: 1 to 1024, for a new store"},
      {"too_many", h + "store: {shards: 1025}\n", "store.shards is no such number",
       "allowed: 1 to 1024, for a new store"},
      {"no_size", h + "store: {diskReserve: lots}\n", "store.diskReserve is no size",
       "allowed: a size: 128Mi, 1Gi; 0 = do not look"},
      {"no_duration", h + "degraded: {repairDeadline: 90}\n",
       "degraded.repairDeadline is no such duration", "allowed: whole seconds: 1s to 24h"},
      {"half_a_second", h + "degraded: {repairDeadline: 500ms}\n",
       "degraded.repairDeadline is no such duration", "allowed: whole seconds: 1s to 24h"},
      {"short_lease", h + "replica: {leaseDuration: 1s}\n",
       "replica.leaseDuration is no such duration", "allowed: whole seconds: 2s to 10m"},
      {"no_link", h + "replica: {link: here}\n", "replica.link is no object", ""},
      {"no_budget", h + "clientConnection: {qps: -1}\n", "clientConnection.qps is no such number",
       "allowed: a whole number; 0 = no limit"},
      {"no_flag", h + "events: {steps: sometimes}\n", "events.steps is neither true nor false",
       "allowed: true or false"},
      {"no_profile", h + "profiles: []\n", "profiles is no list of profiles",
       "allowed: a list of {schedulerName: NAME}"},
      {"twins", h + "profiles: [{schedulerName: a}, {schedulerName: a}]\n",
       "profiles has two profiles of one name", "allowed: a list of {schedulerName: NAME}"},
      {"twin_levels", h + "topology: {levels: [a, a]}\n",
       "topology.levels is wrong: a stands there twice",
       "allowed: label keys, outermost first; the last is the rack"},
      {"no_address", h + "admin: {address: here}\n",
       "admin.address is wrong: ", "allowed: HOST:PORT; \"\" = none"},
      {"no_levels", h + "topology: {levels: [7]}\n", "topology.levels has an entry that is no text",
       "allowed: label keys, outermost first; the last is the rack"},
  };
  return all;
}

class That : public Config, public testing::WithParamInterface<bad_config> {};

TEST_P(That, is_refused_with_its_place_and_a_cure) {
  const auto said = in_force(GetParam().text);
  EXPECT_EQ(said.code(), 1);
  EXPECT_EQ(said.out, "");
  EXPECT_NE(said.err.find("error: " + home_.sub("config.yaml") + ": " + GetParam().message),
            std::string::npos)
      << said.err;
  EXPECT_NE(said.err.find(GetParam().hint), std::string::npos) << said.err;
}
INSTANTIATE_TEST_SUITE_P(BadConfig, That, testing::ValuesIn(bad_configs()),
                         [](const auto& x) { return std::string{x.param.name}; });

TEST_F(Config, that_is_not_there_and_a_store_that_nobody_names_are_said) {
  const auto missing =
      run({"scheduler", "--config", home_.sub("none.yaml"), "--write-config-to", "-"});
  EXPECT_EQ(missing.code(), 1);
  EXPECT_NE(missing.err.find("none.yaml: No such file"), std::string::npos) << missing.err;
  const auto directory = run({"scheduler", "--config", home_.path(), "--write-config-to", "-"});
  EXPECT_EQ(directory.code(), 1);
  EXPECT_NE(directory.err.find(home_.path() + ": "), std::string::npos) << directory.err;
  EXPECT_NE(directory.err.find("name another file with --config"), std::string::npos)
      << directory.err;
  const auto nowhere = in_force(head);
  EXPECT_EQ(nowhere.code(), 2);
  EXPECT_NE(nowhere.err.find("--data-dir"), std::string::npos) << nowhere.err;
}

TEST_F(Config, and_its_reference_page_name_the_same_fields) {
  std::ifstream file{std::string{TUTTI_SOURCE_DIR} + "/docs/reference/configuration.md"};
  const std::string page{std::istreambuf_iterator<char>{file}, {}};
  std::size_t rows = 0;
  for (auto pos = page.find("\n| `"); pos != page.npos; pos = page.find("\n| `", pos + 1))
    ++rows;
  for (const auto& field : cli::config_fields()) {
    const auto row = page.find("\n| `" + std::string{field.path} + "` |");
    EXPECT_NE(row, page.npos) << field.path;
    const auto line = page.substr(row + 1, page.find('\n', row + 1) - row - 1);
    EXPECT_NE(line.find(field.flag), line.npos) << line;
  }
  EXPECT_EQ(rows, cli::config_fields().size());
}

} // namespace
} // namespace tutti::commands
