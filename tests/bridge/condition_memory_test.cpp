// What is remembered of conditions, and for how long.
#include "bridge/condition_memory.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tutti::bridge {
namespace {

digest key(int n) {
  return digest_of({std::to_string(n)});
}

known_condition known(std::string version = "7", std::string since = "2026-07-24T10:11:12Z") {
  return {.is_there = true,
          .status = false,
          .words = digest_of({"Unschedulable", "no room"}),
          .since = std::move(since),
          .resource_version = std::move(version)};
}

TEST(Digest, differs_where_texts_or_their_borders_differ) {
  const std::vector<std::vector<std::string>> texts{{},
                                                    {""},
                                                    {"", ""},
                                                    {"ab"},
                                                    {"a", "b"},
                                                    {"b", "a"},
                                                    {"abcdefgh"},
                                                    {"abcdefgh", ""},
                                                    {std::string{"abcdefgh\0", 9}},
                                                    {"abcdefghi"},
                                                    {"abcdefgh", "i"}};
  std::map<std::pair<std::uint64_t, std::uint64_t>, int> seen;
  const auto add = [&seen](digest d) { ++seen[{d.a, d.b}]; };
  for (const auto& t : texts)
    add(t.empty() ? digest_of({}) : t.size() == 1 ? digest_of({t[0]}) : digest_of({t[0], t[1]}));
  EXPECT_EQ(seen.size(), texts.size());
  EXPECT_EQ(digest_of({"a", "b"}), digest_of({"a", "b"}));
}

TEST(ConditionMemory, gives_back_what_was_kept) {
  condition_memory memory{10};
  const known_condition none{.is_bound = true, .resource_version = "18446744073709551615"};
  memory.keep(key(1), known());
  memory.keep(key(2), none);
  EXPECT_EQ(memory.look(key(1)), known());
  EXPECT_EQ(memory.look(key(2)), none);
  EXPECT_FALSE(memory.look(key(3)));
  memory.keep(key(1), known("8"));
  EXPECT_EQ(memory.look(key(1)), known("8"));
  memory.forget(key(1));
  EXPECT_FALSE(memory.look(key(1)));
  EXPECT_EQ(memory.size(), 1u);
}

TEST(ConditionMemory, what_has_no_short_form_is_not_remembered) {
  condition_memory memory{10};
  for (const auto* version : {"", "a7", "007", "7 ", "18446744073709551616"}) {
    memory.keep(key(1), known());
    memory.keep(key(1), known(version));
    EXPECT_FALSE(memory.look(key(1))) << version;
  }
  for (const auto* since : {"yesterday", "2026-07-24T10:11:12.5Z", "2026-07-24T12:11:12+02:00"}) {
    memory.keep(key(1), known("7", since));
    EXPECT_FALSE(memory.look(key(1))) << since;
  }
}

RC_GTEST_PROP(ConditionMemoryProperty, forgets_who_was_not_used_for_longest, ()) {
  constexpr std::size_t limit = 4;
  condition_memory memory{limit};
  std::vector<std::pair<int, std::string>> model; // oldest use first
  const auto find = [&model](int n) {
    return std::find_if(model.begin(), model.end(), [n](const auto& x) { return x.first == n; });
  };
  for (int step = 0; step < 60; ++step) {
    const auto n = *rc::gen::inRange(0, 8);
    const auto was = find(n);
    switch (*rc::gen::inRange(0, 3)) {
    case 0: {
      const auto version = std::to_string(step);
      memory.keep(key(n), known(version));
      if (was != model.end())
        model.erase(was);
      else if (model.size() == limit)
        model.erase(model.begin());
      model.emplace_back(n, version);
      break;
    }
    case 1: {
      const auto found = memory.look(key(n));
      RC_ASSERT(found.has_value() == (was != model.end()));
      if (was != model.end()) {
        RC_ASSERT(found->resource_version == was->second);
        std::rotate(was, was + 1, model.end());
      }
      break;
    }
    default:
      memory.forget(key(n));
      if (was != model.end())
        model.erase(was);
    }
    RC_ASSERT(memory.size() == model.size());
  }
}

} // namespace
} // namespace tutti::bridge
