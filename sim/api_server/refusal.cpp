// Status objects with the words of a real API server.
#include "sim/api_server/refusal.hpp"

#include <boost/json.hpp>
#include <fmt/format.h>

namespace tutti::sim::api_server {

namespace {

std::string full_name(const subject& what) {
  return what.group.empty() ? std::string{what.plural}
                            : fmt::format("{}.{}", what.plural, what.group);
}

refusal about(const subject& what, int code, std::string reason, std::string message) {
  refusal r;
  r.code = code;
  r.reason = std::move(reason);
  r.message = std::move(message);
  r.name = what.name;
  r.group = what.group;
  r.kind = what.plural;
  return r;
}

} // namespace

refusal not_found(const subject& what) {
  return about(what, 404, "NotFound",
               fmt::format("{} \"{}\" not found", full_name(what), what.name));
}

refusal already_exists(const subject& what) {
  return about(what, 409, "AlreadyExists",
               fmt::format("{} \"{}\" already exists", full_name(what), what.name));
}

refusal conflict(const subject& what, std::string_view why) {
  return about(what, 409, "Conflict",
               fmt::format("Operation cannot be fulfilled on {} \"{}\": {}", full_name(what),
                           what.name, why));
}

refusal stale(const subject& what) {
  return conflict(what, "the object has been modified; please apply your changes to the latest "
                        "version and try again");
}

refusal forbidden(const subject& what, std::string_view why) {
  return about(what, 403, "Forbidden",
               fmt::format("{} \"{}\" is forbidden: {}", full_name(what), what.name, why));
}

refusal invalid(std::string_view kind, const subject& what, std::vector<cause> causes) {
  auto type = what.group.empty() ? std::string{kind} : fmt::format("{}.{}", kind, what.group);
  std::string list;
  for (const auto& c : causes) {
    if (!list.empty())
      list += ", ";
    list += c.field + ": " + c.message;
  }
  if (causes.size() > 1)
    list = "[" + list + "]";
  auto r =
      about(what, 422, "Invalid", fmt::format("{} \"{}\" is invalid: {}", type, what.name, list));
  r.kind = kind;
  r.causes = std::move(causes);
  return r;
}

refusal refused_by_rules(api::refusal why, std::string_view kind, const subject& what) {
  refusal r;
  static_cast<api::refusal&>(r) = std::move(why);
  if (r.code == 400)
    return r; // not understood: about nothing in particular
  r.name = what.name;
  r.group = what.group;
  r.kind = r.code == 422 ? kind : what.plural;
  return r;
}

refusal bad_request(std::string message) {
  refusal r;
  r.code = 400;
  r.reason = "BadRequest";
  r.message = std::move(message);
  return r;
}

refusal no_such_path() {
  refusal r;
  r.code = 404;
  r.reason = "NotFound";
  r.message = "the server could not find the requested resource";
  return r;
}

refusal method_not_allowed() {
  refusal r;
  r.code = 405;
  r.reason = "MethodNotAllowed";
  r.message = "the server does not allow this method on the requested resource";
  return r;
}

refusal unsupported_media(std::string_view got) {
  refusal r;
  r.code = 415;
  r.reason = "UnsupportedMediaType";
  r.message = fmt::format("the body of the request was in an unknown format - accepted media types "
                          "include: application/json, application/json-patch+json, "
                          "application/merge-patch+json, application/strategic-merge-patch+json"
                          "{}{}",
                          got.empty() ? "" : "; got: ", got);
  return r;
}

refusal expired(std::uint64_t asked, std::uint64_t oldest) {
  refusal r;
  r.code = 410;
  r.reason = "Expired";
  r.message = fmt::format("too old resource version: {} ({})", asked, oldest);
  return r;
}

refusal too_large_version(std::uint64_t asked, std::uint64_t current) {
  refusal r;
  r.code = 504;
  r.reason = "Timeout";
  r.message = fmt::format("Timeout: Too large resource version: {}, current: {}", asked, current);
  r.causes.push_back({"ResourceVersionTooLarge", "Too large resource version", ""});
  r.retry_after_s = 1;
  return r;
}

refusal internal_error(std::string message) {
  refusal r;
  r.code = 500;
  r.message = std::move(message);
  return r;
}

std::string to_status(const refusal& r) {
  namespace json = boost::json;
  json::object meta;
  if (!r.continue_token.empty())
    meta["continue"] = r.continue_token;
  json::object out{{"kind", "Status"}, {"apiVersion", "v1"}, {"metadata", std::move(meta)}};
  out["status"] = "Failure";
  out["message"] = r.message;
  if (!r.reason.empty())
    out["reason"] = r.reason;
  json::object details;
  if (!r.name.empty())
    details["name"] = r.name;
  if (!r.group.empty())
    details["group"] = r.group;
  if (!r.kind.empty())
    details["kind"] = r.kind;
  if (!r.causes.empty()) {
    json::array causes;
    for (const auto& c : r.causes) {
      json::object one{{"reason", c.reason}, {"message", c.message}};
      if (!c.field.empty())
        one["field"] = c.field;
      causes.push_back(std::move(one));
    }
    details["causes"] = std::move(causes);
  }
  if (r.retry_after_s > 0)
    details["retryAfterSeconds"] = r.retry_after_s;
  if (!details.empty() || !r.reason.empty())
    out["details"] = std::move(details);
  out["code"] = r.code;
  return json::serialize(out);
}

std::string success_status(int code) {
  return fmt::format(
      R"({{"kind":"Status","apiVersion":"v1","metadata":{{}},"status":"Success","code":{}}})",
      code);
}

} // namespace tutti::sim::api_server
