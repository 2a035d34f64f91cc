// The words of schedules.
#include "chaos/action.hpp"

#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "chaos/schedule.hpp"

namespace tutti::chaos {
namespace {

using namespace std::chrono_literals;

TEST(Action, a_duration_is_a_whole_number_and_a_unit) {
  EXPECT_EQ(read_duration("1200ms").value(), 1200ms);
  EXPECT_EQ(read_duration("-3h").value(), -3h);
  EXPECT_EQ(read_duration("0s").value(), 0s);
  for (const char* bad : {"", "1", "s", "1.5s", "1 s", "1d", "99999999999999h", "1s "})
    EXPECT_FALSE(read_duration(bad)) << bad;
}

TEST(Action, a_duration_is_written_in_the_largest_unit_that_divides_it) {
  EXPECT_EQ(duration_text(1200ms), "1200ms");
  EXPECT_EQ(duration_text(2h), "2h");
  EXPECT_EQ(duration_text(0s), "0s");
  EXPECT_EQ(duration_text(90s), "90s");
  EXPECT_EQ(duration_text(7us), "7us");
}

TEST(Action, a_request_is_known_by_what_it_does) {
  EXPECT_EQ(request_word("POST", "/api/v1/namespaces/default/pods/a/binding"), "bind");
  EXPECT_EQ(request_word("GET", "/api/v1/namespaces/default/pods/a"), "read");
  EXPECT_EQ(request_word("GET", "/api/v1/pods?watch=true"), "watch");
  EXPECT_EQ(request_word("GET", "/api/v1/pods?limit=500"), "list");
  EXPECT_EQ(request_word("PATCH", "/api/v1/namespaces/default/pods/a"), "touch");
  EXPECT_EQ(request_word("PATCH", "/api/v1/namespaces/default/pods/a/status"), "status");
  EXPECT_EQ(request_word("DELETE", "/api/v1/namespaces/default/pods/a"), "evict");
  EXPECT_EQ(request_word("POST", "/apis/events.k8s.io/v1/namespaces/default/events"), "event");
}

TEST(Action, every_fault_of_the_protocol_can_happen_and_is_named) {
  std::set<std::string> named;
  const auto take = [&](std::string_view labels) {
    std::istringstream in{std::string{labels}};
    for (std::string label; in >> label;)
      named.insert(label);
  };
  for (const auto& kind : action_kinds())
    take(kind.fault);
  for (const auto& word : world_words())
    take(word.fault);
  for (int n = 1; n <= 27; ++n)
    EXPECT_TRUE(named.contains("F" + std::to_string(n))) << "F" << n;
}

} // namespace
} // namespace tutti::chaos
