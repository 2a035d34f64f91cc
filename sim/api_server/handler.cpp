// Routing of requests and the wording of their answers.
#include "sim/api_server/handler.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/api_server/handler_parts.hpp"
#include "sim/api_server/protobuf.hpp"
#include "sim/api_server/table.hpp"

namespace tutti::sim::api_server {

namespace {

constexpr std::string_view access_reviews =
    "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

/// `path` without its leading /api/v1 or /apis/G/V: where the resource begins.
struct resource_path {
  std::string_view group;
  std::string_view version;
  std::size_t from = 0;
};

std::optional<resource_path> resource_path_of(const target& path) {
  if (path[0] == "api" && path.size() >= 3)
    return resource_path{"", path[1], 2};
  if (path[0] == "apis" && path.size() >= 4)
    return resource_path{path[1], path[2], 3};
  return std::nullopt;
}

/// The body as JSON, into memory of `sp`. kubectl sends some kinds as protobuf only.
outcome<json::value> body_of(const request& r, const json::storage_ptr& sp) {
  if (r.content_type.find("protobuf") != std::string_view::npos) {
    auto decoded = decode_protobuf(r.body);
    if (!decoded)
      return unsupported_media(r.content_type);
    return json::value(std::move(*decoded), sp);
  }
  boost::system::error_code failed;
  auto body = json::parse(r.body, failed, sp);
  if (failed)
    return bad_request("couldn't get version/kind; json parse error");
  return body;
}

write_options write_options_of(const target& path) {
  return {!path.parameter("dryRun").empty(), path.parameter("fieldValidation")};
}

std::optional<refusal> check_dry_run(const target& path) {
  auto text = path.parameter("dryRun");
  if (text.empty() || text == "All")
    return std::nullopt;
  return bad_request(
      fmt::format("dryRun: Unsupported value: \"{}\": supported values: \"All\"", text));
}

/// `kubectl auth can-i`: there is no authorization, so the answer is always yes. Nothing is kept.
outcome<response> review_access(const request& r) {
  auto read = body_of(r, {});
  if (auto* refused = std::get_if<refusal>(&read))
    return *refused;
  auto* review = std::get<json::value>(read).if_object();
  if (!review)
    return bad_request("couldn't get version/kind; json parse error");
  (*review)["status"] = json::object{{"allowed", true}};
  return plain(201, json::serialize(*review));
}

} // namespace

handler::handler(const catalog& kinds, store& objects, registry& writes, const base::clock& time)
    : kinds_(kinds), store_(objects), registry_(writes), clock_(time), discovery_(kinds) {}

void handler::count(std::string_view verb, const route& to) {
  auto key =
      fmt::format("{} {}{}{}", verb, to.what->what->plural, to.sub.empty() ? "" : "/", to.sub);
  ++counters_[key];
}

answer handler::on(const request& r) {
  answer out;
  target path{r.target};
  auto lacking = lacks_space(r, path);
  auto done = lacking ? outcome<response>{std::move(*lacking)} : dispatch(r, path, out);
  if (auto* refused = std::get_if<refusal>(&done)) {
    out.stream.reset();
    out.now = plain(refused->code, to_status(*refused));
    out.now.retry_after_s = refused->retry_after_s;
  } else {
    out.now = std::move(std::get<response>(done));
  }
  out.after = store_.last();
  return out;
}

/// F9. The reserve is for what lets gangs that are decided come to their end, and replicas live:
/// Bindings, evictions, deletions, and changes of what is there (fences, Leases, decisions). A real
/// server answers 500 to every write while its etcd has no space.
std::optional<refusal> handler::lacks_space(const request& r, const target& path) const {
  if (space_.has_plenty() || r.method == "GET" || r.method == "HEAD")
    return std::nullopt;
  const auto last = path[path.size() - 1];
  const bool creates = r.method == "POST" && last != "binding" && last != "eviction";
  if (!creates && !space_.has_none())
    return std::nullopt;
  return internal_error(persistence::full_error(space_).message());
}

outcome<response> handler::dispatch(const request& r, const target& path, answer& out) {
  if (r.method == "GET")
    if (auto page = discovery_.find(path, r.accept))
      return *page;
  if (r.method == "POST" && path.path() == access_reviews)
    return review_access(r);
  auto at = resource_path_of(path);
  if (!at || !kinds_.has_version(at->group, at->version)) {
    auto missing = plain(404, "404 page not found\n");
    missing.content_type = "text/plain; charset=utf-8";
    return missing;
  }
  route to;
  auto i = at->from;
  auto is_scoped = path[i] == "namespaces" && path.size() > i + 2 && path[i + 2] != "status"
                   && path[i + 2] != "finalize";
  if (is_scoped) {
    to.ns = path[i + 1];
    i += 2;
  }
  to.what = kinds_.find(at->group, at->version, path[i]);
  to.name = path[i + 1];
  to.sub = path[i + 2];
  if (!to.what || (is_scoped && !to.what->what->is_namespaced) || path.size() > i + 3)
    return no_such_path();
  if (to.name.empty())
    return collection(r, path, to, out);
  if (to.what->what->is_namespaced && to.ns.empty())
    return no_such_path();
  return one(r, path, to);
}

outcome<response> handler::collection(const request& r, const target& path, const route& to,
                                      answer& out) {
  if (r.method == "GET" && path.flag("watch"))
    return start_watch(r, path, to, out);
  if (r.method == "GET")
    return list(r, path, to);
  if (r.method == "DELETE")
    return remove_all(r, path, to);
  if (r.method != "POST")
    return method_not_allowed();
  if (to.what->what->is_namespaced && to.ns.empty())
    return method_not_allowed();
  return change(r, path, to);
}

outcome<response> handler::one(const request& r, const target& path, const route& to) {
  auto kind = to.what->what->id;
  if (kind == kind_id::pods && (to.sub == "binding" || to.sub == "eviction"))
    return pod_verb(r, path, to);
  if (!to.sub.empty() && !(to.sub == "status" && to.what->what->has_status))
    return no_such_path();
  if (r.method == "GET") {
    count("get", to);
    auto table = table_asked(r.accept, path.parameter("includeObject"));
    if (auto* refused = std::get_if<refusal>(&table))
      return *refused;
    auto found = store_.find(kind, to.key());
    if (!found)
      return not_found({to.what->group, to.what->what->plural, to.name});
    if (const auto carries = std::get<0>(table))
      return plain(200, one_table(*to.what, *found, clock_.wall_now(), *carries));
    response got;
    write_object(*to.what, *found, got.body);
    return got;
  }
  if (r.method == "PUT" || r.method == "PATCH")
    return change(r, path, to);
  if (r.method == "DELETE" && to.sub.empty())
    return remove(r, path, to);
  return method_not_allowed();
}

outcome<response> handler::change(const request& r, const target& path, const route& to) {
  if (auto refused = check_dry_run(path))
    return *refused;
  auto is_patch = r.method == "PATCH";
  auto is_create = r.method == "POST";
  count(is_patch ? "patch" : is_create ? "create" : "update", to);
  auto type = patch_type::merge;
  if (is_patch) {
    auto media = r.content_type.substr(0, r.content_type.find(';'));
    if (media == "application/strategic-merge-patch+json")
      type = patch_type::strategic;
    else if (media == "application/json-patch+json")
      type = patch_type::json;
    else if (media != "application/merge-patch+json")
      return unsupported_media(r.content_type);
  }
  json::monotonic_resource memory;
  auto read = body_of(r, &memory);
  if (auto* refused = std::get_if<refusal>(&read))
    return *refused;
  auto& body = std::get<json::value>(read);
  if (!is_patch && !body.is_object())
    return bad_request("couldn't get version/kind; json parse error");
  auto how = write_options_of(path);
  auto done = is_patch ? registry_.patch(*to.what, to.key(), to.which(), type, body, how)
              : is_create
                  ? registry_.create(*to.what, to.ns, body.get_object(), how)
                  : registry_.update(*to.what, to.key(), to.which(), body.get_object(), how);
  if (auto* refused = std::get_if<refusal>(&done))
    return *refused;
  auto& w = std::get<written>(done);
  response out;
  out.status = is_create ? 201 : 200;
  out.warning = std::move(w.warning);
  write_object(*to.what, *w.now, out.body);
  return out;
}

namespace {

/// Reads DeleteOptions from body and query.
outcome<delete_options> delete_options_of(const request& r, const target& path,
                                          std::string_view member) {
  delete_options out;
  out.is_dry_run = !path.parameter("dryRun").empty();
  if (auto grace = path.number("gracePeriodSeconds"))
    out.grace_s = static_cast<std::int64_t>(*grace);
  if (r.body.empty())
    return out;
  auto body = body_of(r, {});
  if (auto* refused = std::get_if<refusal>(&body))
    return *refused;
  const auto* options = std::get<json::value>(body).if_object();
  if (!options)
    return bad_request("couldn't get version/kind; json parse error");
  if (!member.empty()) {
    auto* inner = look(*options, {member});
    if (!inner || !inner->is_object())
      return out;
    options = &inner->get_object();
  }
  if (auto* grace = look(*options, {"gracePeriodSeconds"}); grace && grace->is_int64())
    out.grace_s = grace->get_int64();
  out.uid = text_at(*options, {"preconditions", "uid"});
  out.revision = text_at(*options, {"preconditions", "resourceVersion"});
  if (auto* dry = look(*options, {"dryRun"}); dry && dry->is_array())
    out.is_dry_run = out.is_dry_run || !dry->get_array().empty();
  return out;
}

} // namespace

outcome<response> handler::pod_verb(const request& r, const target& path, const route& to) {
  if (r.method != "POST")
    return method_not_allowed();
  if (auto refused = check_dry_run(path))
    return *refused;
  count("create", to);
  outcome<written> done;
  if (to.sub == "eviction") {
    auto how = delete_options_of(r, path, "deleteOptions");
    if (auto* refused = std::get_if<refusal>(&how))
      return *refused;
    done = registry_.evict(to.key(), std::get<delete_options>(how));
  } else {
    unsigned char memory[4096];
    json::monotonic_resource fast{memory, sizeof memory};
    auto read = body_of(r, &fast);
    if (auto* refused = std::get_if<refusal>(&read))
      return *refused;
    auto* body = std::get<json::value>(read).if_object();
    if (!body)
      return bad_request("couldn't get version/kind; json parse error");
    done = registry_.bind(to.key(), *body, write_options_of(path));
  }
  if (auto* refused = std::get_if<refusal>(&done))
    return *refused;
  return plain(201, success_status(201));
}

outcome<response> handler::remove(const request& r, const target& path, const route& to) {
  if (auto refused = check_dry_run(path))
    return *refused;
  count("delete", to);
  auto how = delete_options_of(r, path, "");
  if (auto* refused = std::get_if<refusal>(&how))
    return *refused;
  auto done = registry_.remove(*to.what, to.key(), std::get<delete_options>(how));
  if (auto* refused = std::get_if<refusal>(&done))
    return *refused;
  const auto& w = std::get<written>(done);
  response out;
  if (w.is_gone && to.what->what->id != kind_id::pods) {
    json::object details{{"name", to.name}};
    if (!to.what->group.empty())
      details["group"] = to.what->group;
    details["kind"] = to.what->what->plural;
    details["uid"] = w.now->uid;
    out.body = fmt::format(R"({{"kind":"Status","apiVersion":"v1","metadata":{{}},)"
                           R"("status":"Success","details":{}}})",
                           json::serialize(details));
    return out;
  }
  write_object(*to.what, *w.now, out.body);
  return out;
}

outcome<response> handler::remove_all(const request& r, const target& path, const route& to) {
  count("deletecollection", to);
  auto wanted = selector::parse(*to.what->what, path.parameter("labelSelector"),
                                path.parameter("fieldSelector"));
  if (auto* refused = std::get_if<refusal>(&wanted))
    return *refused;
  auto how = delete_options_of(r, path, "");
  if (auto* refused = std::get_if<refusal>(&how))
    return *refused;
  std::vector<std::string> keys;
  for (const auto& [key, x] : store_.all(to.what->what->id))
    if ((to.ns.empty() || x->ns() == to.ns) && std::get<selector>(wanted).matches(*x))
      keys.push_back(key);
  std::string items;
  for (const auto& key : keys) {
    auto done = registry_.remove(*to.what, key, std::get<delete_options>(how));
    if (auto* w = std::get_if<written>(&done)) {
      items += items.empty() ? "" : ",";
      items += w->now->body;
    }
  }
  return plain(200, fmt::format(R"({{"kind":"{}List","apiVersion":"{}","metadata":)"
                                R"({{"resourceVersion":"{}"}},"items":[{}]}})",
                                to.what->what->kind, to.what->api_version, store_.last(), items));
}

} // namespace tutti::sim::api_server
