// Uids come out as they went in, whatever they look like.
#include "base/uid.hpp"

#include <map>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tutti::base {
namespace {

constexpr auto uuid = "0f8fad5b-d9cb-469f-a165-70867728950e";

/// Often a UUID, often nearly one.
std::string any_uid() {
  if (*rc::gen::inRange(0, 4) == 0)
    return *rc::gen::string<std::string>();
  std::string out = uuid;
  for (auto& c : out)
    if (c != '-')
      c = *rc::gen::element('0', '7', '8', 'a', 'b', 'f');
  if (*rc::gen::inRange(0, 3) == 0)
    out[*rc::gen::inRange<std::size_t>(0, out.size())] = *rc::gen::element('A', '-', 'g', '\0');
  return out;
}

TEST(PackedUid, texts_that_are_no_random_uuids_stay_as_they_are) {
  for (const std::string text :
       {"", "u", "uid-a", uuid, "0F8FAD5B-D9CB-469F-A165-70867728950E",
        "00000000-0000-0000-0000-000000000000", "0f8fad5b-d9cb-469f-c165-70867728950e",
        "0f8fad5bd9cb-469f-a165-70867728950e-", "{0f8fad5b-d9cb-469f-a165-70867728950e}"}) {
    const packed_uid packed{text};
    EXPECT_EQ(packed.text(), text);
    EXPECT_EQ(packed.empty(), text.empty());
  }
}

TEST(PackedUid, is_a_value) {
  for (const std::string text : {"", "u", uuid}) {
    packed_uid a{text};
    packed_uid b = a;
    EXPECT_EQ(a, b);
    packed_uid c = std::move(a);
    a = c;
    EXPECT_EQ(a.text(), text);
    b = packed_uid{"other"};
    c = std::move(b);
    EXPECT_EQ(c.text(), "other");
    c = packed_uid{uuid};
    EXPECT_EQ(c.text(), uuid);
    EXPECT_EQ(a.text(), text);
  }
}

RC_GTEST_PROP(PackedUidProperty, equality_and_order_are_those_of_the_texts, ()) {
  const auto x = any_uid(), y = any_uid();
  const packed_uid a{x}, b{y};
  RC_ASSERT(a.text() == x);
  RC_ASSERT((a == b) == (x == y));
  RC_ASSERT((a <=> b) == (x <=> y));
  RC_ASSERT(a == packed_uid{x});
  RC_ASSERT(a.hash() == packed_uid{x}.hash());
}

} // namespace
} // namespace tutti::base
