// Facts about room: what the scheduler holds, and what it believes to be free on each node.
#include <algorithm>
#include <map>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "api/decode.hpp"
#include "api/requests.hpp"
#include "sim/scenario/scene.hpp"

namespace tutti::sim::scenario {

namespace {

namespace json = boost::json;
using api_server::kind_id;
using protocol::role_kind;

/// All reservations of the leading process, as its shards tell them.
std::vector<json::object> holds_of(scene& at) {
  std::vector<json::object> out;
  const auto* leader = at.process_named("leader");
  const auto shards = leader ? leader->options().shards : 0;
  for (std::uint32_t n = 0; n < shards; ++n) {
    const auto said = at.ask(protocol::to_shard({n}), "holds");
    if (const auto* list = said.if_array())
      for (const auto& hold : *list)
        out.push_back(hold.as_object());
  }
  return out;
}

std::int64_t number_at(const json::object& x, std::string_view name) {
  const auto* found = x.if_contains(name);
  return found && found->is_number() ? found->to_number<std::int64_t>() : 0;
}

void read_reserved(const tree& word, const tree& value, facts& out) {
  add_fact(
      out, word, fmt::format("reserved: {}", to_text(value)),
      [wanted = read_bounds(value)](scene& at) -> finding {
        std::int64_t held = 0;
        for (const auto& hold : holds_of(at))
          held += number_at(hold, "held");
        const auto marks = at.ask(protocol::to(role_kind::topology), "marks");
        const auto marked = marks.is_object() ? number_at(marks.get_object(), "seats") : 0;
        std::int64_t nominated = 0;
        for (const auto& [key, pod] : at.objects().all(kind_id::pods))
          if (pod->node_name.empty()
              && pod->body.find(R"("nominatedNodeName":")") != std::string::npos)
            ++nominated;
        if (wanted.hold(static_cast<double>(held + marked + nominated)))
          return std::nullopt;
        return fmt::format("{} held, {} marked, {} nominated", held, marked, nominated);
      },
      sight::mind);
}

void read_held(const tree& word, const tree& value, facts& out) {
  for (const auto& name : expand_all(value))
    add_fact(
        out, word, fmt::format("held: [{}]", name),
        [name](scene& at) -> finding {
          if (at.is_held(name))
            return std::nullopt;
          return "it does not stand there";
        },
        sight::mind);
}

// ---------------------------------------------------------------- nodes

/// Amounts by name: cpu in thousandths, everything else whole.
using amounts = std::map<std::string, std::int64_t>;

amounts amounts_of(const base::resources& x) {
  amounts out{{"cpu", x.cpu_milli},
              {"memory", x.memory_bytes},
              {"ephemeral-storage", x.ephemeral_bytes},
              {"pods", x.pods}};
  for (const auto& e : x.extended)
    out[e.name.text()] = e.amount;
  return out;
}

/// As a role describes them: "cpu_milli", "memory_bytes", …
amounts read_amounts(const json::object& row, std::string_view field) {
  amounts out;
  const auto* found = row.if_contains(field);
  if (!found || !found->is_object())
    return out;
  for (const auto& [name, n] : found->get_object()) {
    const auto amount = n.to_number<std::int64_t>();
    if (name == "cpu_milli")
      out["cpu"] = amount;
    else if (name == "memory_bytes")
      out["memory"] = amount;
    else if (name == "ephemeral_bytes")
      out["ephemeral-storage"] = amount;
    else
      out[std::string{name}] = amount;
  }
  return out;
}

struct node_now {
  bool is_known = false; ///< to the scheduler
  amounts free, used;
  std::int64_t pods = 0;
};

/// `pods` and, while promises on the node are open, `used` come from the API server's objects;
/// else `used` is what the scheduler believes: allocatable less free.
node_now look_at_node(scene& at, const std::string& name) {
  node_now out;
  base::resources sum;
  for (const auto& [key, pod] : at.objects().all(kind_id::pods)) {
    if (pod->node_name != name || pod->is_finished())
      continue;
    ++out.pods;
    api_server::draft parsed{pod->body};
    if (const auto read = api::decode_pod(parsed.doc()))
      sum += api::footprint_of(*read).amounts;
  }
  out.used = amounts_of(sum);
  const auto row =
      at.has_mind() ? at.ask(protocol::to(role_kind::topology), "nodes", name) : json::value{};
  if (!row.is_object())
    return out;
  out.is_known = true;
  out.free = read_amounts(row.get_object(), "free");
  const auto holds = holds_of(at);
  const bool has_holds = std::any_of(holds.begin(), holds.end(), [&](const json::object& hold) {
    const auto* nodes = hold.if_contains("nodes");
    return nodes && nodes->is_array()
           && std::any_of(nodes->get_array().begin(), nodes->get_array().end(),
                          [&](const json::value& n) { return n.as_string() == name; });
  });
  if (has_holds)
    return out;
  for (const auto& [what, amount] : read_amounts(row.get_object(), "allocatable"))
    out.used[what] = amount - out.free[what];
  return out;
}

using wanted_amounts = std::map<std::string, amount_bounds>;

wanted_amounts read_wanted(const tree* x) {
  wanted_amounts out;
  if (x)
    for (const auto& f : map_of(*x).fields)
      out[resource_name(f.name)] = read_amount_bounds(f.value);
  return out;
}

std::string difference(const wanted_amounts& wanted, const amounts& found, const char* what) {
  for (const auto& [name, bounds] : wanted) {
    const auto pos = found.find(name);
    const auto n = pos == found.end() ? 0 : pos->second;
    const bool is_milli = name == "cpu";
    if (!bounds.hold(n, is_milli))
      return fmt::format("{} {} is {}", what, name,
                         is_milli ? fmt::format("{}m", n) : fmt::format("{}", n));
  }
  return {};
}

struct wanted_node {
  wanted_amounts free, used;
  std::optional<bounds> pods;
};

finding compare(scene& at, const std::string& name, const wanted_node& wanted) {
  const auto now = look_at_node(at, name);
  if (wanted.pods && !wanted.pods->hold(static_cast<double>(now.pods)))
    return fmt::format("{} pods", now.pods);
  const bool asks_the_scheduler = !wanted.free.empty() || (at.has_mind() && !wanted.used.empty());
  if (!now.is_known && asks_the_scheduler)
    return "the scheduler does not know it";
  if (auto wrong = difference(wanted.used, now.used, "used"); !wrong.empty())
    return wrong;
  if (auto wrong = difference(wanted.free, now.free, "free"); !wrong.empty())
    return wrong;
  return std::nullopt;
}

void read_node(const tree&, const tree& value, facts& out) {
  for (const auto& f : map_of(value).fields) {
    auto where = f.value;
    where.line = f.line;
    mapping fields{f.value, "fact about a node"};
    wanted_node wanted;
    wanted.free = read_wanted(fields.take("free"));
    wanted.used = read_wanted(fields.take("used"));
    if (const auto* pods = fields.take("pods"))
      wanted.pods = read_bounds(*pods);
    fields.end();
    const auto needed = !wanted.free.empty()   ? sight::mind
                        : !wanted.used.empty() ? sight::deeds
                                               : sight::objects;
    for (const auto& name : expand(f.name, where))
      add_fact(
          out, where, fmt::format("node: {{{}: {}}}", name, to_text(f.value)),
          [name = full_name{"", name}.api_name(), wanted](scene& at) {
            return compare(at, name, wanted);
          },
          needed);
  }
}

void read_each_node(const tree& word, const tree& value, facts& out) {
  mapping fields{value, "fact about each node"};
  const auto most = number_of(fields.need("pods_at_most"));
  fields.end();
  add_fact(out, word, fmt::format("each_node: {}", to_text(value)), [most](scene& at) -> finding {
    std::map<std::string, std::int64_t> pods;
    for (const auto& [key, pod] : at.objects().all(kind_id::pods))
      if (!pod->node_name.empty() && !pod->is_finished())
        ++pods[pod->node_name];
    for (const auto& [node, n] : pods)
      if (n > most)
        return fmt::format("{} pods on {}", n, node);
    return std::nullopt;
  });
}

} // namespace

const std::vector<fact_word>& facts_about_room() {
  static const std::vector<fact_word> words{{"reserved", read_reserved},
                                            {"held", read_held},
                                            {"node", read_node},
                                            {"each_node", read_each_node}};
  return words;
}

} // namespace tutti::sim::scenario
