// What watches of the embedded API server tell is what those of a genuine one tell.
#include <algorithm>
#include <map>
#include <sstream>

#include <boost/json.hpp>
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "tests/live/control_plane.hpp"
#include "tests/live/differential.hpp"

namespace tutti::live {
namespace {

namespace json = boost::json;
using namespace differential;

struct told {
  std::string type;
  std::string name;
  std::string text; ///< what both must say of it

  std::string line() const { return type + " " + name + "\n" + text; }
};

std::string text_at(const json::object& x, const char* field) {
  const auto* v = x.if_contains(field);
  return v != nullptr && v->is_string() ? std::string{v->get_string()} : std::string{};
}

told read_event(const json::object& event) {
  told out;
  out.type = text_at(event, "type");
  const auto& x = event.at("object").as_object();
  if (out.type == "ERROR") {
    out.text = json::serialize(x.at("code")) + " " + text_at(x, "reason");
    return out;
  }
  const auto& meta = x.at("metadata").as_object();
  out.name = text_at(meta, "name");
  if (out.type != "BOOKMARK") {
    out.text = essence_of(x);
    return out;
  }
  const auto* annotations = meta.if_contains("annotations");
  out.text = text_at(x, "kind") + " " + (annotations ? json::serialize(*annotations) : "");
  return out;
}

/// Everything that a watch tells until the server ends it, or its refusal. A change of what only
/// one of the two servers does (a kubelet's part) is none.
std::vector<told> watched(const api_client& on, const std::string& path, const std::string& query) {
  const auto said = on.get(path + "?watch=1&timeoutSeconds=2&" + query);
  std::vector<told> out;
  if (said.status != 200) {
    out.push_back({"refused", std::to_string(said.status), essence(said)});
    return out;
  }
  std::map<std::string, std::string> last;
  std::istringstream lines{said.body};
  for (std::string line; std::getline(lines, line);) {
    auto x = read_event(json::parse(line).as_object());
    if (x.type == "MODIFIED" && last[x.name] == x.text)
      continue;
    last[x.name] = x.text;
    // Of a pod that is not bound a genuine server says that it is ending, and at once that it is
    // gone; the embedded one says only that.
    const auto& before = out.empty() ? x : out.back();
    if (x.type == "DELETED" && before.type == "MODIFIED" && before.name == x.name
        && before.text.find("nodeName") == std::string::npos)
      out.pop_back();
    out.push_back(std::move(x));
  }
  return out;
}

std::string text_of(const std::vector<told>& all) {
  std::string out;
  for (const auto& x : all)
    out += x.line() + "\n";
  return out;
}

std::string version_of(const api_client& on, const std::string& path) {
  return text_at(on.get(path + "?limit=1").object().at("metadata").as_object(), "resourceVersion");
}

class Watched : public Live {
protected:
  static const std::vector<std::string>& paths() {
    static const std::vector<std::string> all{"/api/v1/nodes", space, groups};
    return all;
  }
  daemon embedded() const {
    return daemon{{.what = {"--serve-only", "--data-dir", home_.sub("api")},
                   .listens = true,
                   .has_admin = false}};
  }
};

TEST_F(Watched, events_of_the_embedded_server_are_those_of_a_genuine_one) {
  control_plane on;
  auto ours = embedded();
  std::map<std::string, std::string> from_genuine, from_embedded;
  for (const auto& path : paths()) {
    from_genuine[path] = version_of(on.api(), path);
    from_embedded[path] = version_of(ours.api(), path);
  }
  for (const auto& x : everything_asked()) {
    on.api().ask(x.method, x.path, filled(x.body, on.api()));
    ours.api().ask(x.method, x.path, filled(x.body, ours.api()));
  }
  for (const auto& path : paths()) {
    const auto genuine = watched(on.api(), path, "resourceVersion=" + from_genuine[path]);
    const auto told = watched(ours.api(), path, "resourceVersion=" + from_embedded[path]);
    EXPECT_FALSE(genuine.empty()) << path;
    EXPECT_EQ(text_of(told), text_of(genuine)) << path;
    const auto selected = [&](const api_client& api, const std::string& from) {
      return text_of(watched(api, path, "labelSelector=a%3Db&resourceVersion=" + from));
    };
    EXPECT_EQ(selected(ours.api(), from_embedded[path]), selected(on.api(), from_genuine[path]))
        << path << ": of those with a label, who gets it comes and who loses it goes";
  }
  ours.stop();
}

/// What is there comes first, in whatever order, and a bookmark ends it.
TEST_F(Watched, initial_events_end_with_the_same_bookmark) {
  control_plane on;
  auto ours = embedded();
  for (const auto& x : everything_asked()) {
    on.api().ask(x.method, x.path, filled(x.body, on.api()));
    ours.api().ask(x.method, x.path, filled(x.body, ours.api()));
  }
  const auto begun = [](const api_client& api, const std::string& path) {
    auto all = watched(api, path,
                       "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&"
                       "allowWatchBookmarks=true");
    const auto end =
        std::find_if(all.begin(), all.end(), [](const told& x) { return x.type == "BOOKMARK"; });
    EXPECT_NE(end, all.end()) << path << "\n" << text_of(all);
    if (end != all.end())
      all.erase(end + 1, all.end()); // those that come by the clock
    std::sort(all.begin(), all.end() - 1,
              [](const told& a, const told& b) { return a.name < b.name; });
    return text_of(all);
  };
  for (const auto& path : paths())
    EXPECT_EQ(begun(ours.api(), path), begun(on.api(), path)) << path;
  ours.stop();
}

/// Both have forgotten: the one because its past was compacted, the other because it has none.
TEST_F(Watched, the_past_that_is_forgotten_is_refused_alike) {
  control_plane on;
  auto ours = std::make_unique<daemon>(embedded());
  const std::string path = space;
  const auto genuine_from = version_of(on.api(), path),
             embedded_from = version_of(ours->api(), path);
  for (int i = 0; i < 3; ++i)
    for (const auto* api : {&on.api(), &ours->api()})
      EXPECT_EQ(api->post(path, pod(fmt::format("p{}", i))).status, 201);
  on.kill("kube-apiserver");
  const api_client etcd{on.etcd_port()};
  const auto now = etcd.post("/v3/kv/range", R"({"key": "YQ=="})").object();
  const std::string revision{now.at("header").at("revision").as_string()};
  EXPECT_EQ(etcd.post("/v3/kv/compaction", R"({"physical": true, "revision": ")" + revision + "\"}")
                .status,
            200);
  on.start_again("kube-apiserver");
  ours->stop();
  ours = std::make_unique<daemon>(embedded());
  EXPECT_EQ(text_of(watched(ours->api(), path, "resourceVersion=" + embedded_from)),
            text_of(watched(on.api(), path, "resourceVersion=" + genuine_from)));
  const auto exact = [&](const api_client& api, const std::string& from) {
    return essence(api.get(path + "?resourceVersionMatch=Exact&resourceVersion=" + from));
  };
  EXPECT_EQ(exact(ours->api(), embedded_from), exact(on.api(), genuine_from));
  // One that begins now is served by both.
  EXPECT_EQ(text_of(watched(ours->api(), path, "resourceVersion=" + version_of(ours->api(), path))),
            text_of(watched(on.api(), path, "resourceVersion=" + version_of(on.api(), path))));
  ours->stop();
}

} // namespace
} // namespace tutti::live
