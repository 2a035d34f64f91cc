// The line of progress that a terminal shows while gangs settle.
#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "cli/output.hpp"

namespace tutti::cli {
namespace {

TEST(Progress, counts_what_is_bound_of_all_and_who_is_where) {
  EXPECT_EQ(progress_text({{"Bound", 420}, {"Queued", 3}, {"Binding", 0}}, 5.0),
            "420 of 423 gangs bound, 3 Queued, 84/s");
}

TEST(Progress, of_nobody_is_nothing) {
  EXPECT_EQ(progress_text({}, 0.0), "0 of 0 gangs bound, 0/s");
}

} // namespace
} // namespace tutti::cli
