// A control plane on a hand-driven clock, spoken to as a client would, and a few objects for it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "sim/api_server/control_plane.hpp"

namespace tutti::sim::api_server::testing {

namespace json = boost::json;

/// Stands until a test moves it.
class hand_clock final : public base::clock {
public:
  base::time_point now() const override { return base::time_point{passed}; }
  base::wall_time wall_now() const override {
    return {start_ms + std::chrono::duration_cast<std::chrono::milliseconds>(passed).count()};
  }

  base::duration passed{0};

private:
  static constexpr std::int64_t start_ms = 1'795'000'000'000;
};

struct reply {
  int status = 0;
  json::value body;
  std::string raw;
  std::string type; ///< of the body
  std::string warning;
  std::unique_ptr<watch> stream;

  std::string text(std::string_view pointer) const {
    boost::system::error_code failed;
    auto* v = body.find_pointer({pointer.data(), pointer.size()}, failed);
    return !v ? "" : v->is_string() ? std::string{v->get_string()} : json::serialize(*v);
  }
  std::string message() const { return text("/message"); }
  std::string revision() const { return text("/metadata/resourceVersion"); }
};

class ApiServer : public ::testing::Test {
protected:
  ApiServer() { start({}); }

  void start(control_plane::options o) {
    plane = std::make_unique<control_plane>(std::move(o), clock);
    plane->begin();
  }

  reply send(std::string_view method, std::string_view target, std::string_view body = "",
             std::string_view type = "application/json",
             std::string_view accept = "application/json") {
    request r{method, target, body, type, accept};
    auto got = plane->handle(r);
    reply out;
    out.status = got.now.status;
    out.raw = got.now.body;
    out.type = got.now.content_type;
    out.warning = got.now.warning;
    out.stream = std::move(got.stream);
    boost::system::error_code failed;
    out.body = json::parse(out.raw, failed);
    return out;
  }
  reply get(std::string_view target) { return send("GET", target); }
  reply post(std::string_view target, std::string_view body) { return send("POST", target, body); }
  reply put(std::string_view target, std::string_view body) { return send("PUT", target, body); }
  reply remove(std::string_view target, std::string_view body = "") {
    return send("DELETE", target, body);
  }
  reply merge(std::string_view target, std::string_view body) {
    return send("PATCH", target, body, "application/merge-patch+json");
  }
  reply strategic(std::string_view target, std::string_view body) {
    return send("PATCH", target, body, "application/strategic-merge-patch+json");
  }

  /// Lets time pass and everything due happen.
  void pass(base::duration d) {
    clock.passed += d;
    plane->on_time(clock.now());
  }
  /// What the watch shows now, one parsed event per line.
  std::vector<json::value> events(watch& w) {
    std::string lines;
    w.poll(clock.now(), lines);
    std::vector<json::value> out;
    for (std::size_t at = 0; at < lines.size();) {
      auto end = lines.find('\n', at);
      out.push_back(json::parse(lines.substr(at, end - at)));
      at = end + 1;
    }
    return out;
  }
  /// "ADDED a", "BOOKMARK", …: types and names.
  std::vector<std::string> shown(watch& w) {
    std::vector<std::string> out;
    for (auto& e : events(w)) {
      auto& o = e.get_object();
      std::string line{o["type"].get_string()};
      if (auto name = text_at(o["object"].get_object(), {"metadata", "name"}); !name.empty())
        line += " " + std::string{name};
      out.push_back(line);
    }
    return out;
  }

  void make_node(std::string_view name) {
    auto r = post("/api/v1/nodes", R"({"kind":"Node","apiVersion":"v1","metadata":{"name":")"
                                       + std::string{name}
                                       + R"("},"status":{"allocatable":{"cpu":"4","memory":"16Gi",)"
                                         R"("pods":"110"}}})");
    ASSERT_EQ(r.status, 201) << r.raw;
  }
  /// `more` goes into spec, `meta` into metadata; both begin with a comma if not empty.
  reply make_pod(std::string_view name, std::string_view more = "", std::string_view meta = "") {
    auto r = post("/api/v1/namespaces/default/pods",
                  R"({"kind":"Pod","apiVersion":"v1","metadata":{"name":")" + std::string{name}
                      + "\"" + std::string{meta}
                      + R"(},"spec":{"containers":[{"name":"c","image":"registry.example/a:1",)"
                        R"("resources":{"requests":{"cpu":"1"}}}])"
                      + std::string{more} + "}}");
    EXPECT_EQ(r.status, 201) << r.raw;
    return r;
  }
  reply bind(std::string_view pod, std::string_view node, std::string_view meta = "") {
    return post(pod_path(pod) + "/binding",
                R"({"kind":"Binding","apiVersion":"v1","metadata":{"name":")" + std::string{pod}
                    + "\"" + std::string{meta} + R"(},"target":{"kind":"Node","name":")"
                    + std::string{node} + "\"}}");
  }
  reply make_group(std::string_view name, int min = 2) {
    auto r = post(groups, R"({"kind":"PodGroup","apiVersion":"scheduling.k8s.io/v1beta1",)"
                          R"("metadata":{"name":")"
                              + std::string{name}
                              + R"("},"spec":{"schedulingPolicy":{"gang":{"minCount":)"
                              + std::to_string(min) + "}}}}");
    EXPECT_EQ(r.status, 201) << r.raw;
    return r;
  }
  static std::string pod_path(std::string_view name) {
    return "/api/v1/namespaces/default/pods/" + std::string{name};
  }
  static constexpr auto groups = "/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups";
  static constexpr auto pods = "/api/v1/namespaces/default/pods";

  hand_clock clock;
  std::unique_ptr<control_plane> plane;
};

} // namespace tutti::sim::api_server::testing
