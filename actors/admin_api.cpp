// One function per path; each asks the role that knows, and says so if it does not answer.
#include "actors/admin_api.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <functional>
#include <map>
#include <string_view>
#include <vector>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "actors/asking.hpp"
#include "actors/metrics.hpp"
#include "api/dialect.hpp"
#include "protocol/address.hpp"

namespace tutti::actors {

namespace {

namespace json = boost::json;
using namespace std::chrono_literals;
using protocol::role_kind;

const std::vector<std::uint32_t> no_shards;

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

/// An object as kubectl prints its own: version and kind first.
json::object typed(std::string_view kind, const json::object& fields) {
  json::object out{{"apiVersion", "tutti.dev/v1"}, {"kind", kind}};
  for (const auto& [name, value] : fields)
    if (name != "kind")
      out[name] = value;
  return out;
}

/// What the queue says of a gang: the kind of its root object is one field among others.
json::object typed_gang(const json::object& row) {
  auto out = typed("Gang", row);
  out["rootKind"] = row.contains("kind") ? row.at("kind") : json::value{};
  return out;
}

http_reply json_reply(std::string_view kind, const json::object& fields) {
  return {200, "application/json", json::serialize(typed(kind, fields)) + "\n"};
}

http_reply error_reply(int status, std::string_view what) {
  json::object body{{"apiVersion", "tutti.dev/v1"}, {"kind", "Error"}, {"message", what}};
  return {status, "application/json", json::serialize(body) + "\n"};
}

json::array typed_items(const std::string& item_kind, const json::array& rows) {
  json::array items;
  for (const auto& row : rows)
    items.push_back(item_kind == "Gang" ? typed_gang(row.as_object())
                                        : typed(item_kind, row.as_object()));
  return items;
}

http_reply list_reply(const std::string& item_kind, const json::array& rows) {
  return json_reply(item_kind + "List", {{"items", typed_items(item_kind, rows)}});
}

http_reply list(scheduler& who, role_kind kind, const char* what, const char* item_kind) {
  const auto rows = ask(who, protocol::to(kind), what);
  if (!rows.is_array())
    return error_reply(503, fmt::format("the {} does not answer", protocol::to_text(to(kind))));
  return list_reply(item_kind, rows.get_array());
}

/// What each shard that runs here says of itself; one that does not answer is not in it.
json::array shard_rows(scheduler& who) {
  json::array items;
  for (const auto s : shards_here(who).value_or(no_shards)) {
    auto one = ask(who, protocol::to_shard({s}), "shards");
    if (!one.is_object())
      continue; // it does not answer: readiness says so
    one.as_object()["name"] = std::to_string(s);
    items.push_back(std::move(one));
  }
  return items;
}

http_reply shards(scheduler& who) {
  return list_reply("Shard", shard_rows(who));
}

/// What the shards that run here hold for attempts. A gang that the queue does not know (any more)
/// has no `namespace` and is named by its uid.
http_reply reservations(scheduler& who) {
  const auto known = ask(who, protocol::to(role_kind::queue), "gangs");
  std::map<std::string_view, const json::object*> gangs; // by uid
  if (known.is_array())
    for (const auto& g : known.get_array())
      gangs.emplace(g.at("uid").as_string(), &g.as_object());
  json::array rows;
  for (const auto s : shards_here(who).value_or(no_shards)) {
    auto holds = ask(who, protocol::to_shard({s}), "holds");
    if (!holds.is_array())
      return error_reply(503, fmt::format("shard {} does not answer", s));
    for (auto& hold : holds.get_array()) {
      auto& row = hold.as_object();
      row["name"] = fmt::format("{}@{}", row.at("attempt").as_string().c_str(), s);
      row["shard"] = s;
      if (auto pos = gangs.find(row.at("gang").as_string()); pos != gangs.end()) {
        row["namespace"] = pos->second->at("namespace");
        row["gang"] = pos->second->at("name");
      }
      rows.push_back(std::move(row));
    }
  }
  return list_reply("Reservation", rows);
}

http_reply no_such_gang(const std::string& name) {
  return error_reply(404, "no gang " + name + "; `tutti get gangs -A` lists them");
}

/// How what is said to that replica leaves.
void add_link(json::object& row, const std::vector<link_state>& links) {
  const auto pos = std::find_if(links.begin(), links.end(), [&](const auto& x) {
    return std::string_view{row.at("name").as_string()} == x.replica;
  });
  if (pos == links.end())
    return;
  row["link"] = pos->is_up ? "up" : "down";
  row["address"] = pos->reached_at;
  row["trouble"] = pos->trouble;
  row["framesSent"] = pos->sent;
  row["framesDropped"] = pos->dropped;
  row["framesHeard"] = pos->heard;
}

http_reply replicas(scheduler& who) {
  auto said = keeper_word(who);
  if (!said.is_object())
    return error_reply(404, "this replica is alone");
  auto body = said.as_object();
  const auto links = who.links();
  for (auto& x : body.at("replicas").as_array())
    add_link(x.as_object(), links);
  body["items"] = typed_items("Replica", body.at("replicas").as_array());
  body.erase("replicas");
  return json_reply("ReplicaList", body);
}

http_reply one_gang(scheduler& who, const std::string& name) {
  const auto found = ask(who, protocol::to(role_kind::queue), "gang", name);
  if (!found.is_object())
    return no_such_gang(name);
  return json_reply("Gang", typed_gang(found.get_object()));
}

/// Frees the gang if it is quarantined, and asks the queue to try it now. The answer has the gang
/// as it was before.
http_reply retry(scheduler& who, const std::string& name) {
  const auto known = ask(who, protocol::to(role_kind::queue), "gang", name);
  if (!known.is_object())
    return no_such_gang(name);
  const bool is_freed = who.free_gang({std::string{known.at("uid").as_string()}});
  const auto before = ask(who, protocol::to(role_kind::queue), "retry", name);
  if (!before.is_object())
    return error_reply(503, "the queue does not answer");
  return json_reply("Retry", {{"namespace", known.at("namespace")},
                              {"name", known.at("name")},
                              {"was_quarantined", is_freed},
                              {"before", typed_gang(before.get_object())}});
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
  return json_reply("Trace", {{"name", name}, {"items", std::move(items)}});
}

http_reply status(scheduler& who, const process_view& around) {
  auto found = ask(who, protocol::to(role_kind::queue), "status");
  if (!found.is_object())
    return error_reply(503, "the queue does not answer");
  auto body = found.as_object();
  body["version"] = around.version;
  body["shards"] = who.options().shards;
  body["mirror"] = ask(who, protocol::to(role_kind::mirror), "mirror");
  body["shardList"] = shard_rows(who);
  return json_reply("Status", body);
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
    return no_such_gang(name);
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
  return json_reply(
      "Cancelled",
      {{"namespace", gang.at("namespace")}, {"name", gang.at("name")}, {"text", said.at("text")}});
}

/// True if `x` is an object whose field `name` is true.
bool is_set(const json::value& x, std::string_view name) {
  const auto* o = x.if_object();
  const auto* field = o != nullptr ? o->if_contains(name) : nullptr;
  return field != nullptr && field->is_bool() && field->get_bool();
}

/// One check of readiness: empty = it passes, else why it does not.
struct check {
  const char* name;
  std::function<std::string(scheduler&)> look;
};

std::string unless(bool ok, std::string_view why) {
  return ok ? std::string{} : std::string{why};
}

std::function<std::string(scheduler&)> store_check(persistence::check_request::part what) {
  return [what](scheduler& who) {
    const auto how = who.check_store(what, answer_patience);
    return how ? std::string{} : how.error().message();
  };
}

/// Ready = the view of nodes and pods is complete and fresh, what is promised and decided can be
/// written and read, there is disk space for more of it, and everybody answers who is asked for a
/// placement.
std::vector<check> ready_checks(scheduler& who) {
  using part = persistence::check_request::part;
  std::vector<check> all{
      {"watch-sync",
       [](scheduler& x) {
         const auto mirror = ask(x, protocol::to(role_kind::mirror), "mirror");
         return unless(is_set(mirror, "synced"), "nodes, pods or groups are not listed yet");
       }},
      {"watch-fresh",
       [](scheduler& x) {
         const auto mirror = ask(x, protocol::to(role_kind::mirror), "mirror");
         return unless(is_set(mirror, "fresh"), "a watch is silent");
       }},
      {"rights",
       [](scheduler& x) {
         std::string missing;
         for (const auto& right : x.calls().missing())
           missing +=
               (missing.empty() ? "the API server does not let us " : ", ") + to_text(right.what);
         return missing;
       }},
      {"journal-writable", store_check(part::journal)},
      {"decision-log", store_check(part::decision_log)},
      {"disk-space",
       [](scheduler& x) {
         const auto seen = x.disk();
         return unless(seen.has_plenty(), persistence::full_error(seen).message());
       }},
      {"queue",
       [](scheduler& x) {
         const auto said = ask(x, protocol::to(role_kind::queue), "quiet");
         return unless(said.is_object(), "the queue does not answer");
       }},
      {"topology",
       [](scheduler& x) {
         const auto said = ask(x, protocol::to(role_kind::topology), "racks");
         return unless(said.is_array(), "the topology does not answer");
       }},
      {"shards", [](scheduler& x) {
         const auto n = shard_rows(x).size(), here = shards_here(x).value_or(no_shards).size();
         return unless(n == here, fmt::format("{} of {} answer", n, here));
       }}};
  if (who.options().has_others())
    all.push_back({"lease", [](scheduler& x) {
                     return unless(is_set(keeper_word(x), "leaseHeld"), "the Lease is not held");
                   }});
  return all;
}

/// As kube-scheduler does: one word if all is well, each check with ?verbose or if one fails, one
/// check alone under its name.
http_reply ready(scheduler& who, const std::string& path, bool is_verbose) {
  const auto name = path.substr(std::string_view{"/readyz"}.size());
  bool ok = true, has_looked = false;
  std::string text;
  for (const auto& c : ready_checks(who)) {
    if (name.size() > 1 && name.substr(1) != c.name)
      continue;
    const auto why = c.look(who);
    text += why.empty() ? fmt::format("[+]{} ok\n", c.name)
                        : fmt::format("[-]{} failed: {}\n", c.name, why);
    ok = ok && why.empty();
    has_looked = true;
  }
  if (!has_looked)
    return error_reply(404, "there is no such check; /readyz?verbose lists them");
  if (ok && !is_verbose)
    return {200, "text/plain", "ok\n"};
  text += ok ? "readyz check passed\n" : "readyz check failed\n";
  return {ok ? 200 : 503, "text/plain", std::move(text)};
}

/// What is asked for by POST: the last words of the path say what is done to a gang.
http_reply change(scheduler& who, const std::string& path, const std::string& target) {
  constexpr std::string_view gangs = "/api/gangs/";
  const auto name_before = [&](std::string_view verb) -> std::string {
    const bool is_meant =
        path.starts_with(gangs) && path.ends_with(verb) && path.size() > gangs.size() + verb.size();
    return is_meant ? path.substr(gangs.size(), path.size() - gangs.size() - verb.size()) : "";
  };
  if (const auto name = name_before("/retry"); !name.empty())
    return retry(who, name);
  if (const auto name = name_before("/cancel"); !name.empty()) {
    const auto query = std::min(target.find('?'), target.size() - 1);
    return cancel(who, name, std::string_view{target}.substr(query + 1));
  }
  return error_reply(405, "all but POST /api/gangs/NAMESPACE/NAME/retry and /cancel is for "
                          "reading: GET");
}

} // namespace

bool is_quiet(scheduler& who) {
  auto said = ask(who, protocol::to(role_kind::queue), "quiet");
  if (!said.is_object())
    return false;
  const auto* quiet = said.as_object().if_contains("quiet");
  return quiet != nullptr && quiet->is_bool() && quiet->as_bool();
}

http_reply answer_starting(const std::string& target) {
  const auto path = target.substr(0, target.find('?'));
  if (path == "/livez" || path == "/healthz")
    return {200, "text/plain", "ok\n"};
  if (path.starts_with("/readyz"))
    return {503, "text/plain", "[-]started failed: the scheduler starts\nreadyz check failed\n"};
  return error_reply(503, "the scheduler starts");
}

http_reply answer_admin(scheduler& who, const process_view& around, const std::string& method,
                        const std::string& target) {
  const auto path = decoded(target.substr(0, target.find('?')));
  if (method == "POST")
    return change(who, path, target);
  if (method != "GET" && method != "HEAD")
    return error_reply(405, "to read: GET; to change a gang: POST");
  auto rest_of = [&path](std::string_view prefix) { return path.substr(prefix.size()); };
  if (path == "/livez" || path == "/healthz")
    return {200, "text/plain", "ok\n"};
  if (path == "/readyz" || path.starts_with("/readyz/"))
    return ready(who, path, target.find("?verbose") != std::string::npos);
  if (path == "/metrics")
    return {200, "text/plain; version=0.0.4", metrics_text(who)};
  if (path == "/api/gangs")
    return list(who, role_kind::queue, "gangs", "Gang");
  if (path.starts_with("/api/gangs/"))
    return one_gang(who, rest_of("/api/gangs/"));
  if (path.starts_with("/api/trace/"))
    return trace(who, rest_of("/api/trace/"));
  if (path == "/api/nodes")
    return list(who, role_kind::topology, "nodes", "Node");
  if (path == "/api/racks")
    return list(who, role_kind::topology, "racks", "Rack");
  if (path == "/api/shards")
    return shards(who);
  if (path == "/api/reservations")
    return reservations(who);
  if (path == "/api/replicas")
    return replicas(who);
  if (path == "/api/status")
    return status(who, around);
  if (path == "/api/settled")
    return json_reply("Settled", {{"settled", around.is_settled && around.is_settled()}});
  if (path == "/api/version")
    return json_reply("Version", {{"version", around.version},
                                  {"groups", api::api_version_of(who.options().spoken)}});
  return error_reply(404, "there is /livez /readyz /metrics /api/gangs /api/nodes /api/racks "
                          "/api/replicas /api/reservations /api/shards /api/status /api/settled "
                          "/api/trace /api/version");
}

} // namespace tutti::actors
