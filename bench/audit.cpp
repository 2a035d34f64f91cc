#include "bench/audit.hpp"

#include <filesystem>
#include <fstream>
#include <string_view>

#include <boost/json.hpp>

#include "bridge/json_read.hpp"

namespace tutti::bench {

namespace {

namespace json = boost::json;

using bridge::text_at;

} // namespace

std::uint64_t audit_size(const std::string& log) {
  return std::filesystem::file_size(log);
}

request_counts audited(const std::string& log, std::uint64_t from, const std::string& agent) {
  request_counts out;
  std::ifstream file{log};
  file.seekg(static_cast<std::streamoff>(from));
  for (std::string line; std::getline(file, line);) {
    if (line.find("\"userAgent\":\"" + agent) == line.npos)
      continue; // most lines of a fill
    boost::system::error_code ec;
    const auto parsed = json::parse(line, ec);
    if (ec)
      continue; // the server writes still
    const auto& x = parsed.as_object();
    const auto* what = x.if_contains("objectRef");
    std::string name{text_at(x, "verb")};
    if (what == nullptr) {
      ++out[name + " " + std::string{text_at(x, "requestURI")}];
      continue;
    }
    name += ' ';
    name += text_at(what->as_object(), "resource");
    if (const auto part = text_at(what->as_object(), "subresource"); !part.empty())
      name.append("/").append(part);
    ++out[name];
  }
  return out;
}

} // namespace tutti::bench
