// Replays over our server what kubectl asked of a real one, command by command: every answer has
// the recorded code and content type, or the difference is listed here with its reason.
#include <fstream>
#include <sstream>

#include "tests/sim/api_server_fixture.hpp"

namespace tutti::sim::api_server::testing {

namespace {

/// Code and content type of an answer.
struct answered {
  int code = 0;
  std::string type;
  friend bool operator==(const answered&, const answered&) = default;
};

std::ostream& operator<<(std::ostream& out, const answered& x) {
  return out << x.code << ' ' << x.type;
}

struct asked {
  std::string command;
  std::string method;
  std::string target;
  std::string accept;
  std::string type;
  std::string body;
  answered recorded;
};

std::vector<asked> read_recording() {
  std::ifstream in{TUTTI_TEST_DATA "/kubernetes/kubectl-v1.37.2.tsv"};
  std::vector<asked> out;
  std::string line;
  std::getline(in, line); // the titles
  while (std::getline(in, line)) {
    std::istringstream cells{line};
    asked x;
    std::string code;
    for (auto* cell :
         {&x.command, &x.method, &x.target, &x.accept, &x.type, &x.body, &code, &x.recorded.type})
      std::getline(cells, *cell, '\t');
    x.recorded.code = std::stoi(code);
    out.push_back(std::move(x));
  }
  return out;
}

/// Where we answer otherwise, and why that is right.
struct difference {
  std::string_view recorded_type;
  std::string_view type; ///< ours
  std::string_view reason;
};

constexpr difference differences[] = {
    {"application/vnd.kubernetes.protobuf", "application/json",
     "objects are sent as JSON only, which every such client names as its second choice"},
};

const difference* difference_of(const asked& x) {
  for (const auto& d : differences)
    if (x.recorded.type == d.recorded_type)
      return &d;
  return nullptr;
}

/// With a revision of this server, where one of the recorded server is named.
std::string with_revision(std::string target, const std::string& now) {
  constexpr std::string_view key = "resourceVersion=";
  if (auto at = target.find(key); at != std::string::npos) {
    at += key.size();
    target.replace(at, target.find('&', at) - at, now);
  }
  return target;
}

/// Field `number` of protobuf's wire format, of a message or text of less than 128 bytes.
std::string bytes_field(char number, std::string_view content) {
  std::string out{static_cast<char>(number << 3 | 2), static_cast<char>(content.size())};
  return out.append(content);
}

/// What `kubectl auth can-i create pods` sends.
std::string access_review() {
  const auto type =
      bytes_field(1, "authorization.k8s.io/v1") + bytes_field(2, "SelfSubjectAccessReview");
  const auto attributes =
      bytes_field(1, "default") + bytes_field(2, "create") + bytes_field(5, "pods");
  const auto review = bytes_field(1, "") + bytes_field(2, bytes_field(1, attributes));
  return std::string{"k8s\0", 4} + bytes_field(1, type) + bytes_field(2, review);
}

/// The recording shows bodies of patches, and what was created; these two it does not.
std::string body_of(const asked& x) {
  if (x.method == "DELETE")
    return R"({"propagationPolicy":"Background"})";
  return x.target.ends_with("/selfsubjectaccessreviews") ? access_review() : x.body;
}

class KubectlRecorded : public ApiServer {
protected:
  answered ask(const asked& x) {
    const auto target = with_revision(x.target, revision_);
    auto got = send(x.method, target, body_of(x), x.type, x.accept);
    EXPECT_EQ(got.stream != nullptr, x.target.find("watch=true") != std::string::npos) << x.target;
    EXPECT_EQ(got.warning, "") << x.target;
    if (auto now = got.revision(); !now.empty())
      revision_ = now;
    return {got.status, got.type};
  }

private:
  std::string revision_; ///< of what the last answer shows, as kubectl keeps it for a watch
};

} // namespace

TEST_F(KubectlRecorded, requests_get_the_recorded_codes_and_types) {
  std::size_t replayed = 0;
  std::vector<std::size_t> uses(std::size(differences));
  for (const auto& x : read_recording()) {
    const auto where = "$ " + x.command + "\n" + x.method + " " + x.target;
    const auto* other = difference_of(x);
    auto wanted = x.recorded;
    if (other) {
      ++uses[static_cast<std::size_t>(other - std::begin(differences))];
      wanted.type = other->type;
      EXPECT_NE(wanted, x.recorded) << where << "\nno difference: " << other->reason;
    }
    EXPECT_EQ(ask(x), wanted) << where;
    ++replayed;
  }
  EXPECT_EQ(replayed, 73u) << "the recording has gone";
  for (std::size_t i = 0; i < uses.size(); ++i)
    EXPECT_GT(uses[i], 0u) << "nothing differs any more: " << differences[i].reason;
}

} // namespace tutti::sim::api_server::testing
