// One function per path; each asks the role that knows, and says so if it does not answer.
#include "actors/admin_api.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <string_view>
#include <vector>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "actors/metrics.hpp"
#include "protocol/address.hpp"

namespace tutti::actors {

namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using protocol::role_kind;

/// A role that is alive answers in microseconds; one that works through a long mailbox, in less
/// than this.
constexpr auto patience = 2000ms;
/// For an operator's word: a partition waits for a silent gang, and then for the store.
constexpr auto cancel_patience = 6000ms;

/// "a b" of "a%20b"; a % that begins no code stays.
std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned byte = 0;
    const auto* from = text.data() + i + 1;
    if (text[i] == '%' && i + 2 < text.size()
        && std::from_chars(from, from + 2, byte, 16).ptr == from + 2) {
      out += static_cast<char>(byte);
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

http_reply json_reply(json::object body) {
  body["apiVersion"] = "tutti.dev/v1";
  return {200, "application/json", json::serialize(body) + "\n"};
}

http_reply error_reply(int status, std::string_view what) {
  json::object body{{"apiVersion", "tutti.dev/v1"}, {"kind", "Error"}, {"message", what}};
  return {status, "application/json", json::serialize(body) + "\n"};
}

/// The role's answer as JSON; null if it gave none.
json::value ask(scheduler& who, const protocol::address& whom, const char* what,
                std::string name = {}) {
  const auto text = who.desk().ask(whom, what, std::move(name), patience);
  if (text.empty())
    return nullptr;
  boost::system::error_code ec;
  auto parsed = json::parse(text, ec);
  return ec ? json::value{nullptr} : parsed;
}

http_reply list(scheduler& who, role_kind kind, const char* what, const char* list_kind) {
  auto items = ask(who, protocol::to(kind), what);
  if (!items.is_array())
    return error_reply(503, fmt::format("the {} does not answer", protocol::to_text(to(kind))));
  return json_reply({{"kind", list_kind}, {"items", std::move(items)}});
}

json::value keeper_word(scheduler& who) {
  return ask(who, protocol::to(role_kind::keeper), "replicas");
}

/// All, or those that run here if there are other replicas.
std::vector<std::uint32_t> shards_here(scheduler& who) {
  std::vector<std::uint32_t> out;
  if (!who.options().has_others()) {
    for (std::uint32_t s = 0; s < who.options().shards; ++s)
      out.push_back(s);
    return out;
  }
  const auto said = keeper_word(who);
  if (!said.is_object())
    return out;
  std::uint32_t s = 0; // they come first, ascending
  for (const auto& unit : said.at("units").as_array()) {
    if (s < who.options().shards && unit.at("runsHere").as_bool())
      out.push_back(s);
    ++s;
  }
  return out;
}

/// What each shard that runs here says of itself; one that does not answer is not in it.
json::array shard_rows(scheduler& who) {
  json::array items;
  for (const auto s : shards_here(who)) {
    auto one = ask(who, protocol::to_shard({s}), "shards");
    if (!one.is_object())
      continue; // it does not answer: readiness says so
    one.as_object()["name"] = std::to_string(s);
    items.push_back(std::move(one));
  }
  return items;
}

http_reply shards(scheduler& who) {
  return json_reply({{"kind", "ShardList"}, {"items", shard_rows(who)}});
}

http_reply replicas(scheduler& who) {
  auto said = keeper_word(who);
  if (!said.is_object())
    return error_reply(404, "this replica is alone");
  auto body = said.as_object();
  body["items"] = body.at("replicas");
  body.erase("replicas");
  body["kind"] = "ReplicaList";
  return json_reply(std::move(body));
}

http_reply one_gang(scheduler& who, const std::string& name) {
  auto found = ask(who, protocol::to(role_kind::queue), "gang", name);
  if (!found.is_object())
    return error_reply(404, "no gang " + name + "; `tutti get gangs -A` lists them");
  auto body = found.as_object();
  body["rootKind"] = body.contains("kind") ? body.at("kind") : json::value{};
  body["kind"] = "Gang";
  return json_reply(std::move(body));
}

http_reply trace(scheduler& who, const std::string& name) {
  json::array items;
  for (const auto& r : who.notes().with("gang", name)) {
    json::object fields;
    for (const auto& [key, value] : r.fields)
      if (const auto* text = std::get_if<std::string>(&value))
        fields[key] = *text;
      else
        fields[key] = std::get<std::int64_t>(value);
    items.push_back(json::object{{"at_ns", r.at.time_since_epoch().count()},
                                 {"unix_ms", r.wall.unix_ms},
                                 {"who", r.who},
                                 {"what", r.what},
                                 {"fields", std::move(fields)}});
  }
  return json_reply({{"kind", "Trace"}, {"name", name}, {"items", std::move(items)}});
}

http_reply status(scheduler& who, const process_view& around) {
  auto found = ask(who, protocol::to(role_kind::queue), "status");
  if (!found.is_object())
    return error_reply(503, "the queue does not answer");
  auto body = found.as_object();
  body["kind"] = "Status";
  body["version"] = around.version;
  body["shards"] = who.options().shards;
  body["mirror"] = ask(who, protocol::to(role_kind::mirror), "mirror");
  body["shardList"] = shard_rows(who);
  return json_reply(std::move(body));
}

/// The values of one key of a query, decoded, in order.
std::vector<std::string> values_of(std::string_view query, std::string_view key) {
  std::vector<std::string> out;
  while (!query.empty()) {
    const auto part = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), part.size() + 1));
    if (part.size() > key.size() && part.starts_with(key) && part[key.size()] == '=')
      out.push_back(decoded(part.substr(key.size() + 1)));
  }
  return out;
}

http_reply cancel(scheduler& who, const std::string& name, std::string_view query) {
  const auto reasons = values_of(query, "reason");
  if (reasons.size() != 1 || reasons.front().empty())
    return error_reply(400, "say why: one reason, which people will read in an event");
  const auto found = ask(who, protocol::to(role_kind::queue), "gang", name);
  if (!found.is_object())
    return error_reply(404, "no gang " + name + "; `tutti get gangs -A` lists them");
  const auto& gang = found.get_object();
  protocol::cancel_gang what{.gang = {std::string{gang.at("uid").as_string()}},
                             .name = {std::string{gang.at("namespace").as_string()},
                                      std::string{gang.at("name").as_string()}},
                             .is_lone_pod = gang.at("kind").as_string() == "Pod",
                             .pods = values_of(query, "member"),
                             .reason = reasons.front()};
  const auto text = who.desk().cancel(std::move(what), cancel_patience);
  if (text.empty())
    return error_reply(503, "its coordinator partition does not answer, or is being made anew: "
                            "look at the gang and say it again");
  const auto said = json::parse(text).as_object();
  if (!said.at("done").as_bool())
    return error_reply(409, name + ": " + std::string{said.at("text").as_string()});
  return json_reply({{"kind", "Cancelled"}, {"name", name}, {"text", said.at("text")}});
}

/// True if `x` is an object whose field `name` is true.
bool is_set(const json::value& x, std::string_view name) {
  const auto* o = x.if_object();
  const auto* field = o != nullptr ? o->if_contains(name) : nullptr;
  return field != nullptr && field->is_bool() && field->get_bool();
}

struct check {
  const char* name;
  bool ok = false;
};

/// Ready = the view of nodes and pods is complete and fresh, and everybody answers who is asked for
/// a placement.
std::vector<check> ready_checks(scheduler& who) {
  const auto mirror = ask(who, protocol::to(role_kind::mirror), "mirror");
  std::vector<check> out{
      {"watch-sync", is_set(mirror, "synced")},
      {"watch-fresh", is_set(mirror, "fresh")},
      {"queue", ask(who, protocol::to(role_kind::queue), "quiet").is_object()},
      {"topology", ask(who, protocol::to(role_kind::topology), "racks").is_array()},
      {"shards", shard_rows(who).size() == shards_here(who).size()}};
  if (who.options().has_others())
    out.push_back({"lease", is_set(keeper_word(who), "leaseHeld")});
  return out;
}

/// As kube-scheduler does: one word if all is well, each check with ?verbose or if one fails, one
/// check alone under its name.
http_reply ready(scheduler& who, const std::string& path, bool is_verbose) {
  auto checks = ready_checks(who);
  if (const auto name = path.substr(std::string_view{"/readyz"}.size()); name.size() > 1)
    std::erase_if(checks, [&](const check& c) { return name.substr(1) != c.name; });
  if (checks.empty())
    return error_reply(404, "there is no such check; /readyz?verbose lists them");
  const bool ok = std::all_of(checks.begin(), checks.end(), [](const check& c) { return c.ok; });
  if (ok && !is_verbose)
    return {200, "text/plain", "ok\n"};
  std::string text;
  for (const auto& c : checks)
    text += fmt::format("[{}]{} {}\n", c.ok ? '+' : '-', c.name, c.ok ? "ok" : "failed");
  text += ok ? "readyz check passed\n" : "readyz check failed\n";
  return {ok ? 200 : 503, "text/plain", std::move(text)};
}

} // namespace

bool is_quiet(scheduler& who) {
  auto said = ask(who, protocol::to(role_kind::queue), "quiet");
  if (!said.is_object())
    return false;
  const auto* quiet = said.as_object().if_contains("quiet");
  return quiet != nullptr && quiet->is_bool() && quiet->as_bool();
}

http_reply answer_admin(scheduler& who, const process_view& around, const std::string& method,
                        const std::string& target) {
  const auto path = decoded(target.substr(0, target.find('?')));
  constexpr std::string_view gangs = "/api/gangs/", cancel_end = "/cancel";
  if (method == "POST" && path.starts_with(gangs) && path.ends_with(cancel_end)
      && path.size() > gangs.size() + cancel_end.size()) {
    const auto query = target.find('?');
    return cancel(who, path.substr(gangs.size(), path.size() - gangs.size() - cancel_end.size()),
                  query == std::string::npos ? std::string_view{}
                                             : std::string_view{target}.substr(query + 1));
  }
  if (method != "GET" && method != "HEAD")
    return error_reply(405, "this path is for reading: GET");
  auto rest_of = [&path](std::string_view prefix) { return path.substr(prefix.size()); };
  if (path == "/livez" || path == "/healthz")
    return {200, "text/plain", "ok\n"};
  if (path == "/readyz" || path.starts_with("/readyz/"))
    return ready(who, path, target.find("?verbose") != std::string::npos);
  if (path == "/metrics")
    return {200, "text/plain; version=0.0.4", metrics_text(who)};
  if (path == "/api/gangs")
    return list(who, role_kind::queue, "gangs", "GangList");
  if (path.starts_with("/api/gangs/"))
    return one_gang(who, rest_of("/api/gangs/"));
  if (path.starts_with("/api/trace/"))
    return trace(who, rest_of("/api/trace/"));
  if (path == "/api/nodes")
    return list(who, role_kind::topology, "nodes", "NodeList");
  if (path == "/api/racks")
    return list(who, role_kind::topology, "racks", "RackList");
  if (path == "/api/shards")
    return shards(who);
  if (path == "/api/replicas")
    return replicas(who);
  if (path == "/api/status")
    return status(who, around);
  if (path == "/api/settled")
    return json_reply({{"kind", "Settled"}, {"settled", around.is_settled && around.is_settled()}});
  if (path == "/api/version")
    return json_reply({{"kind", "Version"}, {"version", around.version}});
  return error_reply(404,
                     "there is /livez /readyz /metrics /api/gangs /api/nodes /api/racks "
                     "/api/replicas /api/shards /api/status /api/settled /api/trace /api/version");
}

} // namespace tutti::actors
