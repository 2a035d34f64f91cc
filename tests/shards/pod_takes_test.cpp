// What each pod of a node takes, and how little memory that takes.
#include "shards/pod_takes.hpp"

#include <string>

#include <gtest/gtest.h>

#include "tests/shards/words.hpp"

namespace tutti::shards {
namespace {

using words::taking;

base::packed_uid uid(const std::string& text) {
  return base::packed_uid{text};
}

TEST(PodTakes, finds_what_was_put_last) {
  pod_takes here;
  here.put(uid("b"), taking(2));
  here.put(uid("a"), taking(1));
  here.put(uid("b"), taking(3));
  ASSERT_NE(here.find(uid("b")), nullptr);
  EXPECT_EQ(*here.find(uid("b")), taking(3));
  EXPECT_EQ(*here.find(uid("a")), taking(1));
  EXPECT_EQ(here.size(), 2u);
  here.erase(uid("a"));
  EXPECT_EQ(here.find(uid("a")), nullptr);
}

TEST(PodTakes, keeps_equal_footprints_once) {
  pod_takes here;
  here.put(uid("a"), taking(1, 80));
  here.put(uid("b"), taking(1));
  here.put(uid("c"), taking(1));
  EXPECT_EQ(here.find(uid("b")), here.find(uid("c")));
  EXPECT_NE(here.find(uid("a")), here.find(uid("b"))) << "one of them takes a port";
}

TEST(PodTakes, a_pod_that_was_resized_leaves_the_others_as_they_are) {
  pod_takes here;
  here.put(uid("a"), taking(1));
  here.put(uid("b"), taking(1));
  const auto before = here;
  here.put(uid("a"), taking(2));
  EXPECT_EQ(*here.find(uid("a")), taking(2));
  EXPECT_EQ(*here.find(uid("b")), taking(1));
  EXPECT_EQ(*before.find(uid("a")), taking(1)) << "nor does a copy follow";
}

TEST(PodTakes, an_entry_takes_thirty_two_bytes) {
  EXPECT_EQ(sizeof(pod_takes::entries::value_type), 32u);
}

} // namespace
} // namespace tutti::shards
