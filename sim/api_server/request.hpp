// One HTTP request and its answer as plain values, and what the path of a request names.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti::sim::api_server {

/// Points into the bytes of the connection; valid during one call of the handler.
struct request {
  std::string_view method;
  std::string_view target; ///< path and query, as on the request line
  std::string_view body;
  std::string_view content_type;
  std::string_view accept;
};

struct response {
  int status = 200;
  std::string content_type = "application/json";
  std::string body;
  std::string warning; ///< text of a `Warning: 299` header
  int retry_after_s = 0;
};

/// The segments of a path and the decoded parameters of a query.
class target {
public:
  explicit target(std::string_view text);

  std::size_t size() const { return count_; }
  /// Segment `i`; empty if there are fewer.
  std::string_view operator[](std::size_t i) const { return i < count_ ? parts_[i] : ""; }
  std::string_view path() const { return path_; }

  /// The first parameter of that name; empty if there is none.
  std::string_view parameter(std::string_view name) const;
  /// As a number; nothing if absent or none.
  std::optional<std::uint64_t> number(std::string_view name) const;
  /// "true", "1" or present without a value.
  bool flag(std::string_view name) const;

private:
  static constexpr std::size_t parts_max = 10; // …/namespaces/NS/pods/NAME/status has 8
  std::string_view path_;
  std::array<std::string_view, parts_max> parts_{};
  std::size_t count_ = 0;
  std::vector<std::pair<std::string, std::string>> query_;
};

} // namespace tutti::sim::api_server
