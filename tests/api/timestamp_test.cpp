// Wall time as API objects write it.
#include "api/timestamp.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tutti::api {
namespace {

TEST(Timestamp, reads_rfc_3339) {
  struct {
    const char* text;
    std::int64_t unix_ms;
  } rows[] = {{"1970-01-01T00:00:00Z", 0},
              {"2026-07-24T10:11:12Z", 1784887872000},
              {"2026-07-24T10:11:12.345678Z", 1784887872345},
              {"2026-07-24T12:11:12+02:00", 1784887872000},
              {"2026-07-24T04:41:12-05:30", 1784887872000},
              {"1969-12-31T23:59:59.999Z", -1},
              {"2024-02-29T00:00:00Z", 1709164800000}};
  for (const auto& row : rows) {
    auto parsed = parse_timestamp(row.text);
    ASSERT_TRUE(parsed) << row.text;
    EXPECT_EQ(parsed->unix_ms, row.unix_ms) << row.text;
  }
}

TEST(Timestamp, refuses_everything_else) {
  for (auto text : {"", "yesterday", "2026-07-24", "2026-07-24T10:11:12", "2026-7-24T10:11:12Z",
                    "2026-02-30T10:11:12Z", "2026-07-24T24:11:12Z", "2026-07-24T10:11:12.Z",
                    "2026-07-24T10:11:12Zx", "2026-07-24T10:60:12Z"})
    EXPECT_FALSE(parse_timestamp(text)) << text;
}

TEST(Timestamp, writes_seconds_for_objects_and_microseconds_for_leases) {
  EXPECT_EQ(timestamp_text({1784887872345}), "2026-07-24T10:11:12Z");
  EXPECT_EQ(micro_timestamp_text({1784887872345}), "2026-07-24T10:11:12.345000Z");
  EXPECT_EQ(micro_timestamp_text({-1}), "1969-12-31T23:59:59.999000Z");
}

RC_GTEST_PROP(Timestamp, what_is_written_reads_back, ()) {
  base::wall_time t{*rc::gen::inRange<std::int64_t>(-60000000000000, 250000000000000)};
  RC_ASSERT(parse_timestamp(micro_timestamp_text(t))->unix_ms == t.unix_ms);
}

} // namespace
} // namespace tutti::api
