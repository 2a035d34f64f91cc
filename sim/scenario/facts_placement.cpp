// Facts about where pods are: bound, pending, domain, nominated, evicted.
#include <algorithm>
#include <set>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "sim/scenario/scene.hpp"

namespace tutti::sim::scenario {

namespace {

namespace json = boost::json;

/// For each name of the keys, with its dealt value.
template <class Use>
void for_each(const tree& x, Use use) {
  for (const auto& f : map_of(x).fields) {
    auto where = f.value;
    where.line = f.line;
    const auto names = expand(f.name, where);
    for (std::size_t i = 0; i < names.size(); ++i)
      use(where, names[i], with_dealt(f.value, i, names.size()));
  }
}

bool is_count(const tree& x) {
  if (x.is == tree::kind::map)
    return true;
  return x.is == tree::kind::text && !x.text.empty()
         && std::all_of(x.text.begin(), x.text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

finding look_at_count(scene& at, const std::string& group, const bounds& wanted) {
  const auto bound = at.bound_members(group);
  if (wanted.hold(static_cast<double>(bound.size())))
    return std::nullopt;
  std::string where;
  for (const auto& pod : bound)
    where += fmt::format(" {}:{}", pod->name(), pod->node_name);
  return fmt::format("{} bound{}", bound.size(), where);
}

finding look_at_pod(scene& at, const std::string& name, const std::vector<std::string>& wanted) {
  const auto pod = at.pod(name);
  const auto node = pod ? pod->node_name : std::string{};
  for (const auto& w : wanted) {
    if (w == "none" ? node.empty() : w == "any" ? !node.empty() : node == split_name(w).api_name())
      return std::nullopt;
  }
  return !pod ? "no such pod" : node.empty() ? "not bound" : fmt::format("on {}", node);
}

void read_bound(const tree&, const tree& value, facts& out) {
  for_each(value, [&](const tree& where, const std::string& name, const tree& what) {
    const auto text = fmt::format("bound: {{{}: {}}}", name, to_text(what));
    if (is_count(what)) {
      add_fact(out, where, text, [name, wanted = read_bounds(what)](scene& at) {
        return look_at_count(at, name, wanted);
      });
      return;
    }
    add_fact(out, where, text, [name, wanted = expand_all(what)](scene& at) {
      return look_at_pod(at, name, wanted);
    });
  });
}

/// A member waits with its group; in 1.35 that is an entry of a Workload.
std::string waits_with(const std::string& name, const api_server::object& x,
                       const json::object& body) {
  if (!x.group.empty())
    return fmt::format("{}/{}", x.ns(), x.group);
  const auto workload = api_server::text_at(body, {"spec", "workloadRef", "name"});
  if (workload.empty())
    return name;
  return fmt::format("{}/{}/{}", x.ns(), workload,
                     api_server::text_at(body, {"spec", "workloadRef", "podGroup"}));
}

bool has_speaking_condition(const json::object& body) {
  const auto* list = api_server::look(body, {"status", "conditions"});
  if (!list || !list->is_array())
    return false;
  const auto& all = list->get_array();
  return std::any_of(all.begin(), all.end(), [](const json::value& c) {
    return c.is_object() && api_server::text_at(c.get_object(), {"status"}) == "False"
           && !api_server::text_at(c.get_object(), {"message"}).empty();
  });
}

/// A condition with a message, or a word of the queue. Where no queue can be looked into, the
/// condition of its group speaks for a member.
bool has_visible_reason(scene& at, const std::string& name, const api_server::object& x) {
  const auto body = scene::body_of(x);
  if (has_speaking_condition(body.as_object()))
    return true;
  if (const auto group = at.has_mind() || x.group.empty()
                             ? nullptr
                             : at.group(api_server::key_of(x.ns(), x.group));
      group && has_speaking_condition(scene::body_of(*group).as_object()))
    return true;
  const auto row = at.queue_row(waits_with(name, x, body.as_object()));
  const auto* fields = row.if_object();
  const auto reason = fields ? api_server::text_at(*fields, {"reason"}) : std::string_view{};
  return !reason.empty() && reason != "<none>";
}

finding look_at_pending(scene& at, const std::string& name) {
  const auto word = at.group_named(name);
  const bool is_group = at.is_group(name);
  const auto x = is_group ? at.group(word) : at.pod(name);
  if (!x)
    return fmt::format("no such {}", is_group ? "group" : "pod");
  if (is_group) {
    if (const auto bound = at.bound_members(word).size(); bound > 0)
      return fmt::format("{} bound", bound);
  } else if (!x->node_name.empty()) {
    return fmt::format("on {}", x->node_name);
  }
  if (!has_visible_reason(at, name, *x))
    return "no reason is visible";
  return std::nullopt;
}

void read_pending(const tree& word, const tree& value, facts& out) {
  for (const auto& name : expand_all(value))
    add_fact(
        out, word, fmt::format("pending: [{}]", name),
        [name](scene& at) { return look_at_pending(at, name); }, sight::deeds);
}

std::string label_of_node(scene& at, const std::string& node, const std::string& key) {
  const auto x = at.objects().find(api_server::kind_id::nodes, node);
  if (!x)
    return "no such node";
  for (const auto& [name, value] : x->labels)
    if (name == key)
      return "=" + value;
  return "no such label";
}

void read_domain(const tree&, const tree& value, facts& out) {
  for_each(value, [&](const tree& where, const std::string& group, const tree& what) {
    std::string key;
    std::string wanted;
    if (what.is == tree::kind::map) {
      if (what.fields.size() != 1)
        fail(where, "domain: {GROUP: KEY} or {GROUP: {KEY: VALUE}}");
      key = label_key(what.fields.front().name);
      wanted = "=" + text_of(what.fields.front().value);
    } else {
      key = label_key(text_of(what));
    }
    add_fact(out, where, fmt::format("domain: {{{}: {}}}", group, to_text(what)),
             [group, key, wanted](scene& at) -> finding {
               std::set<std::string> found;
               for (const auto& pod : at.bound_members(group))
                 found.insert(label_of_node(at, pod->node_name, key));
               const bool is_one =
                   found.size() == 1
                   && (wanted.empty() ? found.begin()->starts_with('=') : *found.begin() == wanted);
               if (is_one)
                 return std::nullopt;
               return fmt::format("{} values: {}", found.size(), fmt::join(found, ", "));
             });
  });
}

void read_nominated(const tree&, const tree& value, facts& out) {
  for_each(value, [&](const tree& where, const std::string& name, const tree& what) {
    add_fact(out, where, fmt::format("nominated: {{{}: {}}}", name, to_text(what)),
             [name, wanted = text_of(what)](scene& at) -> finding {
               const auto pod = at.pod(name);
               if (!pod)
                 return wanted == "none" ? finding{} : finding{"no such pod"};
               const auto body = scene::body_of(*pod);
               const auto node = std::string{
                   api_server::text_at(body.as_object(), {"status", "nominatedNodeName"})};
               if (wanted == "none" ? node.empty() : node == split_name(wanted).api_name())
                 return std::nullopt;
               return node.empty() ? "none" : node;
             });
  });
}

void read_evicted(const tree& word, const tree& value, facts& out) {
  const bool is_exact = value.is == tree::kind::map;
  const tree* list = &value;
  if (is_exact) {
    mapping fields{value, "way to say who was evicted"};
    list = &fields.need("exactly");
    fields.end();
  }
  std::set<std::string> wanted;
  for (const auto& name : expand_all(*list))
    wanted.insert(split_name(name).key());
  add_fact(
      out, word, fmt::format("evicted: {}", to_text(value)),
      [wanted, is_exact](scene& at) -> finding {
        const auto& found = at.done().evicted();
        const bool has_all =
            std::includes(found.begin(), found.end(), wanted.begin(), wanted.end());
        if (has_all && (!is_exact || found.size() == wanted.size()))
          return std::nullopt;
        return fmt::format("[{}]", fmt::join(found, ", "));
      },
      sight::deeds);
}

void read_evictions(const tree& word, const tree& value, facts& out) {
  add_fact(
      out, word, fmt::format("evictions: {}", to_text(value)),
      [wanted = read_bounds(value)](scene& at) -> finding {
        const auto n = at.done().evicted().size();
        if (wanted.hold(static_cast<double>(n)))
          return std::nullopt;
        return fmt::format("{}: {}", n, fmt::join(at.done().evicted(), ", "));
      },
      sight::deeds);
}

} // namespace

const std::vector<fact_word>& facts_about_placement() {
  static const std::vector<fact_word> words{
      {"bound", read_bound},         {"pending", read_pending}, {"domain", read_domain},
      {"nominated", read_nominated}, {"evicted", read_evicted}, {"evictions", read_evictions}};
  return words;
}

} // namespace tutti::sim::scenario
