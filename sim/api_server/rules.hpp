// Where the API's rules meet the server: what a new object gets by default, what is refused, and
// which fields a client may not touch.
#pragma once

#include <optional>
#include <string>

#include "sim/api_server/object.hpp"
#include "sim/api_server/refusal.hpp"
#include "sim/api_server/store.hpp"

namespace tutti::sim::api_server {

class rules {
public:
  struct options {
    release kubernetes = release::v1_37;
    std::string default_scheduler = "tutti"; ///< for pods that name none
  };
  rules(options o, const store& objects) : options_(std::move(o)), store_(objects) {}

  /// Unknown fields and wrong types: refused, dropped with a warning, or dropped in silence as
  /// `field_validation` (Strict, Warn, Ignore) says.
  std::optional<refusal> check_fields(const endpoint& what, json::object& doc,
                                      std::string_view field_validation,
                                      std::string& warning) const;
  /// Defaults and admission, then validation of a new object. `doc` is complete but for the fields
  /// that only the server sets.
  std::optional<refusal> admit(const endpoint& what, json::object& doc) const;
  /// Defaults, then validation of `now` as the successor of `before`. Of status writes only the
  /// status differs.
  /// `before` gets and loses its kind and apiVersion meanwhile.
  std::optional<refusal> admit_update(const endpoint& what, json::object& before, json::object& now,
                                      bool is_status) const;

private:
  options options_;
  const store& store_;
};

} // namespace tutti::sim::api_server
