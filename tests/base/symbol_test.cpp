// Interned strings: one text, one pointer; order by text.
#include "base/symbol.hpp"

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace tutti::base {
namespace {

TEST(Symbol, equal_texts_are_one_symbol) {
  const symbol a{"nvidia.com/gpu"};
  const symbol b{std::string{"nvidia.com/"} + "gpu"};
  EXPECT_EQ(a, b);
  EXPECT_EQ(&a.text(), &b.text());
  EXPECT_NE(a, symbol{"amd.com/gpu"});
}

TEST(Symbol, the_empty_one_is_the_default) {
  EXPECT_TRUE(symbol{}.empty());
  EXPECT_EQ(symbol{}, symbol{""});
}

// Nothing may depend on which symbol was made first.
TEST(Symbol, order_is_that_of_the_text) {
  std::vector<symbol> all{symbol{"zebra-of-this-test"}, symbol{"ant-of-this-test"},
                          symbol{"mule-of-this-test"}};
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all[0].text(), "ant-of-this-test");
  EXPECT_EQ(all[1].text(), "mule-of-this-test");
  EXPECT_EQ(all[2].text(), "zebra-of-this-test");
}

TEST(Symbol, threads_that_make_the_same_symbols_get_the_same) {
  constexpr int texts = 200;
  std::vector<std::vector<symbol>> made(4);
  std::vector<std::thread> threads;
  for (auto& mine : made)
    threads.emplace_back([&mine] {
      for (int n = 0; n < texts; ++n)
        mine.emplace_back("shared-" + std::to_string(n));
    });
  for (auto& t : threads)
    t.join();
  for (const auto& mine : made)
    EXPECT_EQ(mine, made.front());
}

} // namespace
} // namespace tutti::base
