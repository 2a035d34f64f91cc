#include "bridge/verdicts.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace tutti::bridge {
namespace {

struct answer_row {
  const char* title;
  int status;
  const char* says;
  verdict bind;
  verdict remove;
  verdict patch;
  verdict watch;
};

// The rows of the answer table, with the words that real servers use.
const std::vector<answer_row> rows{
    {"created", 201, "", verdict::done, verdict::done, verdict::done, verdict::reconnect},
    {"ok", 200, "", verdict::done, verdict::done, verdict::done, verdict::done},
    {"no such object", 404, "pods \"p\" not found", verdict::gone, verdict::gone, verdict::gone,
     verdict::reconnect},
    {"already on a node", 409, "pod p1 is already assigned to node \"bind1\"", verdict::look,
     verdict::look, verdict::look, verdict::reconnect},
    {"uid precondition", 409, "Precondition failed: UID in precondition", verdict::look,
     verdict::look, verdict::look, verdict::reconnect},
    {"version precondition", 409, "Precondition failed: ResourceVersion in precondition",
     verdict::look, verdict::look, verdict::look, verdict::reconnect},
    {"being deleted", 409, "pod p4 is being deleted, cannot be assigned to a host", verdict::look,
     verdict::look, verdict::look, verdict::reconnect},
    {"expired", 410, "Expired", verdict::invalid, verdict::invalid, verdict::invalid,
     verdict::relist},
    {"foreign uid", 422, "metadata.uid: Invalid value: \\\"x\\\": field is immutable",
     verdict::invalid, verdict::invalid, verdict::replaced, verdict::invalid},
    {"nonsense", 422, "status.conditions[0].reason: Required value", verdict::invalid,
     verdict::invalid, verdict::invalid, verdict::invalid},
    {"overload", 429, "", verdict::wait, verdict::wait, verdict::wait, verdict::wait},
    {"nobody", 401, "", verdict::forbidden, verdict::forbidden, verdict::forbidden,
     verdict::forbidden},
    {"no right", 403, "", verdict::forbidden, verdict::forbidden, verdict::forbidden,
     verdict::forbidden},
    {"namespace ends", 403, R"({"reason":"NamespaceTerminating"})", verdict::forbidden,
     verdict::forbidden, verdict::gone, verdict::forbidden},
    {"server error", 500, "", verdict::unknown, verdict::unknown, verdict::unknown,
     verdict::reconnect},
    {"timeout", 504, "", verdict::unknown, verdict::unknown, verdict::unknown, verdict::reconnect},
    {"version ahead", 504, "Timeout: Too large resource version: 9, current: 4", verdict::unknown,
     verdict::unknown, verdict::unknown, verdict::too_new},
    {"reset", 0, "", verdict::unknown, verdict::unknown, verdict::unknown, verdict::reconnect},
};

struct Verdicts : testing::TestWithParam<answer_row> {};

TEST_P(Verdicts, each_answer_means_the_same_to_everyone_who_asked_that) {
  const auto& row = GetParam();
  EXPECT_EQ(name_of(judge(operation::bind, row.status, row.says)), name_of(row.bind));
  EXPECT_EQ(name_of(judge(operation::remove, row.status, row.says)), name_of(row.remove));
  EXPECT_EQ(name_of(judge(operation::patch, row.status, row.says)), name_of(row.patch));
  EXPECT_EQ(name_of(judge(operation::watch, row.status, row.says)), name_of(row.watch));
}

INSTANTIATE_TEST_SUITE_P(AnswerTable, Verdicts, testing::ValuesIn(rows), [](const auto& x) {
  std::string name = x.param.title;
  for (auto& c : name)
    c = c == ' ' ? '_' : c;
  return name;
});

TEST(VerdictTable, no_row_is_hidden_by_an_earlier_one) {
  for (std::size_t i = 0; i < verdict_table.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const auto& earlier = verdict_table[j];
      const auto& later = verdict_table[i];
      const bool hides = earlier.what == later.what && earlier.says.empty()
                         && earlier.lowest <= later.lowest && earlier.highest >= later.highest;
      EXPECT_FALSE(hides) << "row " << i << " is never reached because of row " << j;
    }
}

TEST(VerdictTable, a_read_never_invents_an_answer) {
  EXPECT_EQ(judge(operation::read, 200, ""), verdict::done);
  EXPECT_EQ(judge(operation::read, 404, ""), verdict::gone);
  EXPECT_EQ(judge(operation::read, 429, ""), verdict::wait);
  EXPECT_EQ(judge(operation::read, 500, ""), verdict::unknown);
}

} // namespace
} // namespace tutti::bridge
