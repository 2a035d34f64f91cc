// One JSON object per line.
#include "tests/live/audit.hpp"

#include <fstream>

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

namespace tutti::live {

std::map<std::string, int> bindings_taken(const std::string& audit_log) {
  std::map<std::string, int> out;
  std::ifstream file{audit_log};
  EXPECT_TRUE(file) << audit_log;
  for (std::string line; std::getline(file, line);) {
    boost::system::error_code ec;
    const auto x = boost::json::parse(line, ec);
    if (ec)
      continue; // the server writes still
    const auto* what = x.as_object().if_contains("objectRef");
    const auto* said = x.as_object().if_contains("responseStatus");
    if (what == nullptr || said == nullptr || !what->as_object().contains("subresource"))
      continue;
    if (what->at("subresource") == "binding" && said->at("code") == 201)
      ++out[std::string{what->at("name").as_string()}];
  }
  return out;
}

} // namespace tutti::live
