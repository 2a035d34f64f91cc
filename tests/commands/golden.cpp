// What changes from run to run is masked; the rest is compared word for word.
#include "golden.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <regex>
#include <utility>

#include <gtest/gtest.h>

namespace tutti::commands {

std::string masked(std::string text) {
  // Columns are padded to the widest cell: an age of 10s instead of 9s must not move its
  // neighbours, so runs of blanks before a masked word become one.
  static const std::pair<std::regex, const char*> masks[] = {
      {std::regex{"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"}, "UID"},
      {std::regex{"\\+ +[0-9]+\\.[0-9]+ms"}, "+TIME"},
      // The queue asks again where the answer takes longer than it is used to.
      {std::regex{"\\+TIME  queue\\.asked_again [^\n]*\n"}, ""},
      {std::regex{"(in|after) [0-9]+[smhd]\\b"}, "$1 TIME"},
      {std::regex{"after [0-9]+\\.[0-9]+ms"}, "after TIME"},
      {std::regex{"created_ms=[0-9]+"}, "created_ms=TIME"},
      {std::regex{" try=[0-9]+ "}, " try=N "}, // one more if its pods came in two steps
      {std::regex{"( +)[0-9]+[smhd]( ago)?\n"}, "   AGE\n"},
      {std::regex{" +[0-9]+ms "}, " TIME "},
      {std::regex{"(created|[a-z_]+_ms|[a-z_]+_ms_ago)(\"?): [0-9]+"}, "$1$2: TIME"},
      {std::regex{"127\\.0\\.0\\.1:[0-9]+"}, "HOST:PORT"},
      {std::regex{"port [0-9]+ on"}, "port PORT on"},
      {std::regex{"/[A-Za-z0-9_./-]*/tutti-test-[A-Za-z0-9]{6}"}, "TEMP"},
  };
  for (const auto& [pattern, word] : masks)
    text = std::regex_replace(text, pattern, word);
  return text;
}

void expect_golden(const std::string& name, const std::string& text) {
  const auto path = std::string{TUTTI_SOURCE_DIR} + "/tests/commands/golden/" + name;
  const auto now = masked(text);
  if (std::getenv("TUTTI_WRITE_GOLDEN") != nullptr) {
    std::ofstream{path} << now;
    return;
  }
  std::ifstream file{path};
  ASSERT_TRUE(file) << path << " is missing";
  const std::string wanted{std::istreambuf_iterator<char>{file}, {}};
  EXPECT_EQ(now, wanted) << "differs from " << path;
}

} // namespace tutti::commands
