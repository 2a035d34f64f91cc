// Both forms are so small that they are written by hand.
#include "sim/api_server/openapi_v2.hpp"

#include <fmt/format.h>

#include "base/ensure.hpp"

namespace tutti::sim::api_server {

namespace {

constexpr std::string_view title = "Kubernetes";

/// Field `number` of protobuf's wire format with that content.
std::string bytes_field(unsigned number, std::string_view content) {
  constexpr unsigned length_delimited = 2;
  ensure(number < 16 && content.size() < 128, number, content.size()); // one byte each
  std::string out{static_cast<char>(number << 3 | length_delimited)};
  out += static_cast<char>(content.size());
  return out.append(content);
}

/// openapi.v2.Document, of which `swagger` is field 1 and `info` field 2.
std::string as_protobuf(release r) {
  return bytes_field(1, "2.0")
         + bytes_field(2, bytes_field(1, title) + bytes_field(2, full_version(r)));
}

} // namespace

response openapi_v2(release r, std::string_view accept) {
  response out;
  if (accept.find("openapi.spec.v2@v1.0+protobuf") != std::string_view::npos) {
    // Asked for with "@", answered with ".": so do real servers, whose media types have no "@".
    out.content_type = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
    out.body = as_protobuf(r);
    return out;
  }
  out.body = fmt::format(R"({{"swagger":"2.0","info":{{"title":"{}","version":"{}"}},)"
                         R"("paths":{{}},"definitions":{{}}}})",
                         title, full_version(r));
  return out;
}

} // namespace tutti::sim::api_server
