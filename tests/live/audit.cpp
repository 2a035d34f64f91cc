// One JSON object per line.
#include "tests/live/audit.hpp"

#include <cstdint>
#include <fstream>
#include <string_view>
#include <vector>

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

namespace tutti::live {

namespace {

namespace json = boost::json;

std::string text_at(const json::object& x, std::string_view field) {
  const auto* v = x.if_contains(field);
  return v != nullptr && v->is_string() ? std::string{v->get_string()} : std::string{};
}

struct request_seen {
  std::string verb;
  std::string user;
  std::string resource; ///< "pods/binding"
  std::string name;
  std::string uri;
  bool is_of_a_scheduler = false;
  std::int64_t code = 0;
};

/// All that were about a resource and have been answered.
std::vector<request_seen> requests_in(const std::string& audit_log) {
  std::vector<request_seen> out;
  std::ifstream file{audit_log};
  EXPECT_TRUE(file) << audit_log;
  for (std::string line; std::getline(file, line);) {
    boost::system::error_code ec;
    const auto parsed = json::parse(line, ec);
    if (ec)
      continue; // the server writes still
    const auto& x = parsed.as_object();
    if (!x.contains("objectRef") || !x.contains("responseStatus"))
      continue;
    const auto& what = x.at("objectRef").as_object();
    const auto part = text_at(what, "subresource");
    out.push_back({.verb = text_at(x, "verb"),
                   .user = text_at(x.at("user").as_object(), "username"),
                   .resource = text_at(what, "resource") + (part.empty() ? "" : "/" + part),
                   .name = text_at(what, "name"),
                   .uri = text_at(x, "requestURI"),
                   .is_of_a_scheduler = text_at(x, "userAgent").starts_with("tutti/"),
                   .code = x.at("responseStatus").at("code").to_number<std::int64_t>()});
  }
  return out;
}

std::set<std::string> rights(const std::string& audit_log, const std::string& user, bool missed) {
  std::set<std::string> out;
  for (const auto& r : requests_in(audit_log))
    if (r.user == user && (r.code == 403) == missed)
      out.insert(r.verb + " " + r.resource);
  return out;
}

} // namespace

std::map<std::string, int> bindings_taken(const std::string& audit_log) {
  std::map<std::string, int> out;
  for (const auto& r : requests_in(audit_log))
    if (r.resource == "pods/binding" && r.code == 201)
      ++out[r.name];
  return out;
}

std::map<std::string, int> lists_begun(const std::string& audit_log) {
  std::map<std::string, int> out;
  for (const auto& r : requests_in(audit_log))
    if (r.is_of_a_scheduler && r.uri.find("sendInitialEvents=true") != r.uri.npos)
      ++out[r.resource];
  return out;
}

std::map<std::string, int> watches_opened(const std::string& audit_log) {
  std::map<std::string, int> out;
  for (const auto& r : requests_in(audit_log))
    if (r.is_of_a_scheduler && r.verb == "watch")
      ++out[r.resource];
  return out;
}

std::set<std::string> rights_missed(const std::string& audit_log, const std::string& user) {
  return rights(audit_log, user, true);
}

std::set<std::string> rights_used(const std::string& audit_log, const std::string& user) {
  return rights(audit_log, user, false);
}

} // namespace tutti::live
