// Replays over our server what clients asked of a real one: every create and every deed done to a
// pod in the recording gets the same code and the same words.
#include <fstream>
#include <iterator>

#include "api/manifest_text.hpp"
#include "tests/sim/api_server_fixture.hpp"

namespace tutti::sim::api_server::testing {

namespace {

struct recorded {
  std::string name;
  std::string method;
  std::string target;
  std::string body;
  std::string type;
  std::int64_t code = 0;
  std::string message;
};

std::vector<recorded> read_recording(const std::string& file) {
  std::ifstream in{std::string{TUTTI_TEST_DATA} + "/kubernetes/" + file};
  std::string text{std::istreambuf_iterator<char>{in}, {}};
  auto documents = api::parse_documents(text).value();
  std::vector<recorded> out;
  for (const auto& x : documents.front().content.as_array()) {
    const auto& o = x.as_object();
    std::string request{text_at(o, {"request"})};
    auto space = request.find(' ');
    auto* code = o.if_contains("code");
    if (space == std::string::npos || !code || !code->is_int64())
      continue;
    std::string type{text_at(o, {"contentType"})};
    auto* body = o.if_contains("body");
    out.push_back({std::string{text_at(o, {"case"})}, request.substr(0, space),
                   request.substr(space + 1), body ? json::serialize(*body) : "",
                   type.empty() ? "application/json" : type, code->get_int64(),
                   std::string{text_at(o, {"message"})}});
  }
  return out;
}

/// The part of a message that is not about Go: behind it come ids of the recorded run, structs in
/// Go's spelling, or a diff of such structs.
std::string comparable(std::string_view message) {
  auto end = message.find_first_of("<\n");
  return std::string{message.substr(0, std::min(end, message.find("[{")))};
}

} // namespace

class Recorded : public ApiServer {
protected:
  void begin() {
    post("/api/v1/namespaces", R"({"metadata":{"name":"validation"}})");
    for (auto c : {R"({"metadata":{"name":"low"},"value":10})",
                   R"({"metadata":{"name":"high"},"value":1000})",
                   R"({"metadata":{"name":"high-never"},"value":1000,"preemptionPolicy":"Never"})"})
      EXPECT_EQ(post("/apis/scheduling.k8s.io/v1/priorityclasses", c).status, 201);
    for (auto spec :
         {R"("p1"},"spec":{"schedulingGroup":{"podGroupName":"g"},)", R"("p2"},"spec":{)",
          R"("p3"},"spec":{"schedulingGroup":{"podGroupName":"g"},)"
          R"("schedulingGates":[{"name":"example.com/hold"}],)",
          R"("p4","finalizers":["example.com/keep"]},"spec":{)", R"("p5"},"spec":{)"}) {
      auto made = post(space, R"({"metadata":{"name":)" + std::string{spec}
                                  + R"("containers":[{"name":"main","image":"pause:3.10"}]}})");
      EXPECT_EQ(made.status, 201) << made.raw;
    }
    EXPECT_EQ(remove(std::string{space} + "/p4").status, 200);
  }
  void replay(const std::string& file) {
    std::size_t replayed = 0;
    for (const auto& c : read_recording(file)) {
      auto is_pods = c.target.starts_with(space);
      auto is_create = c.method == "POST" && c.target.ends_with("?dryRun=All");
      if ((!is_pods && !is_create) || c.name.find("rights") != std::string::npos)
        continue;
      if (c.name.ends_with("template missing")) // made by the recording in between
        make_workload();
      auto r = send(c.method, c.target, c.body == "null" ? "" : c.body, c.type);
      EXPECT_EQ(r.status, c.code) << c.name << ": " << r.raw;
      auto message = r.status < 300 ? "" : r.message();
      auto wanted = comparable(c.message);
      auto got = comparable(message).substr(0, c.message.find('<'));
      // Our key of the object, and our revisions, are not those of the recording.
      if (c.message.find("StorageError") == std::string::npos) {
        EXPECT_EQ(got, wanted) << c.name;
      }
      ++replayed;
    }
    EXPECT_GT(replayed, 60u) << "the recording has gone";
  }
  void make_workload() {
    auto made = post("/apis/scheduling.k8s.io/v1alpha2/namespaces/validation/workloads",
                     R"({"metadata":{"name":"w"},"spec":{"podGroupTemplates":[{"name":"t",)"
                     R"("schedulingPolicy":{"gang":{"minCount":3}}}]}})");
    EXPECT_EQ(made.status, 201) << made.raw;
  }
  static constexpr auto space = "/api/v1/namespaces/validation/pods";
};

TEST_F(Recorded, requests_to_1_37_get_the_recorded_answers) {
  begin();
  replay("validation-v1.37.2.yaml");
}

TEST_F(Recorded, requests_to_1_36_get_the_recorded_answers) {
  control_plane::options o;
  o.kubernetes = release::v1_36;
  start(o);
  begin();
  replay("validation-v1.36.3.yaml");
}

} // namespace tutti::sim::api_server::testing
