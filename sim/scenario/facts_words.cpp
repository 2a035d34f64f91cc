// Facts about what people are told: reasons, messages, conditions, events.
#include <algorithm>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "sim/scenario/fragment.hpp"
#include "sim/scenario/scene.hpp"

namespace tutti::sim::scenario {

namespace {

namespace json = boost::json;
using api_server::look;
using api_server::text_at;

template <class Use>
void for_each(const tree& x, Use use) {
  for (const auto& f : map_of(x).fields) {
    auto where = f.value;
    where.line = f.line;
    for (const auto& name : expand(f.name, where))
      use(where, name, f.value);
  }
}

const json::object* find_condition(const json::object& body, std::string_view type) {
  const auto* list = look(body, {"status", "conditions"});
  if (!list || !list->is_array())
    return nullptr;
  for (const auto& c : list->get_array())
    if (c.is_object() && text_at(c.get_object(), {"type"}) == type)
      return &c.get_object();
  return nullptr;
}

/// Group or lone pod: the condition by which its API says how scheduling went. In 1.35 a group
/// speaks through its members.
std::optional<json::object> own_condition(scene& at, const std::string& name) {
  const auto word = at.group_named(name);
  std::vector<api_server::object_ptr> speakers;
  std::string type = "PodScheduled";
  if (!at.is_group(name)) {
    speakers.push_back(at.pod(word));
  } else if (at.kubernetes() == api::release::v1_35) {
    speakers = at.members(word);
  } else {
    speakers.push_back(at.group(word));
    type = group_condition_of(at.kubernetes());
  }
  for (const auto& x : speakers) {
    if (!x)
      continue;
    const auto body = scene::body_of(*x);
    if (const auto* found = find_condition(body.as_object(), type))
      return *found;
  }
  return std::nullopt;
}

void read_reason(const tree&, const tree& value, facts& out) {
  for_each(value, [&](const tree& where, const std::string& name, const tree& what) {
    add_fact(
        out, where, fmt::format("reason: {{{}: {}}}", name, to_text(what)),
        [name, wanted = texts_of(what)](scene& at) -> finding {
          const auto row = at.queue_row(name);
          if (!row.is_object())
            return "the queue does not know it";
          const std::string reason{text_at(row.get_object(), {"reason"})};
          const std::string cause{text_at(row.get_object(), {"explanation", "reason"})};
          for (const auto& w : wanted)
            if (w == reason || w == cause)
              return std::nullopt;
          return cause.empty() ? reason : fmt::format("{} ({})", reason, cause);
        },
        sight::mind);
  });
}

void read_message(const tree&, const tree& value, facts& out) {
  for_each(value, [&](const tree& where, const std::string& name, const tree& what) {
    add_fact(out, where, fmt::format("message: {{{}: {}}}", name, to_text(what)),
             [name, wanted = read_fragments(what)](scene& at) -> finding {
               const auto condition = own_condition(at, name);
               if (!condition)
                 return "no condition";
               const auto message = text_at(*condition, {"message"});
               if (const auto* missing = first_missing(wanted, message))
                 return fmt::format("{} is not in \"{}\"", missing->text(), message);
               return std::nullopt;
             });
  });
}

struct wanted_condition {
  std::string type;
  std::optional<std::string> status;
  std::vector<std::string> reasons;
};

finding look_at_condition(scene& at, const target& whom, const wanted_condition& wanted) {
  const auto found = at.find(whom);
  if (found.empty())
    return "no such object";
  for (const auto& x : found) {
    auto type = wanted.type;
    if (type.empty())
      type = whom.plural == "pods" ? "PodScheduled" : group_condition_of(at.kubernetes());
    const auto body = scene::body_of(*x);
    const auto* condition = find_condition(body.as_object(), type);
    if (!condition)
      return fmt::format("{} has no condition {}", x->key, type);
    const auto status = text_at(*condition, {"status"});
    const auto reason = text_at(*condition, {"reason"});
    const bool is_reason =
        wanted.reasons.empty()
        || std::find(wanted.reasons.begin(), wanted.reasons.end(), reason) != wanted.reasons.end();
    if ((wanted.status && *wanted.status != status) || !is_reason)
      return fmt::format("{} is {} {}: {}", type, status, reason, text_at(*condition, {"message"}));
  }
  return std::nullopt;
}

void read_condition(const tree&, const tree& value, facts& out) {
  for_each(value, [&](const tree& where, const std::string& name, const tree& what) {
    mapping fields{what, "field of a condition"};
    wanted_condition wanted;
    if (const auto* type = fields.take("type"))
      wanted.type = text_of(*type);
    if (const auto* status = fields.take("status")) {
      auto text = text_of(*status); // True without quotes is the same word
      if (text == "true" || text == "false")
        text.front() = text.front() == 't' ? 'T' : 'F';
      wanted.status = text;
    }
    if (const auto* reason = fields.take("reason"))
      wanted.reasons = texts_of(*reason);
    fields.end();
    const auto whom = read_target(name, where);
    add_fact(out, where, fmt::format("condition: {{{}: {}}}", name, to_text(what)),
             [whom, wanted](scene& at) { return look_at_condition(at, whom, wanted); });
  });
}

// ---------------------------------------------------------------- events

struct wanted_event {
  target on;
  std::string reason;
  std::vector<fragment> message;
  std::optional<bounds> count;
};

/// Names as the API writes them: "Pod", "default/a0".
bool is_about(const json::object& event, const target& whom) {
  const auto kind = scene::kind_named(whom.plural);
  if (!kind)
    return false;
  const auto& info = api_server::info_of(*kind);
  const auto* about = look(event, {"involvedObject"});
  if (!about || !about->is_object())
    return false;
  const auto& o = about->get_object();
  const auto key = info.is_namespaced
                       ? api_server::key_of(text_at(o, {"namespace"}), text_at(o, {"name"}))
                       : std::string{text_at(o, {"name"})};
  return text_at(o, {"kind"}) == info.kind && (whom.key == "*" || whom.key == key);
}

finding look_at_event(scene& at, const wanted_event& wanted) {
  std::int64_t n = 0;
  std::string others;
  for (const auto& [key, x] : at.objects().all(api_server::kind_id::events)) {
    const auto body = scene::body_of(*x);
    const auto& event = body.as_object();
    if (!is_about(event, wanted.on))
      continue;
    const auto message = text_at(event, {"message"});
    const auto reason = text_at(event, {"reason"});
    const bool is_it = (wanted.reason.empty() || reason == wanted.reason)
                       && !first_missing(wanted.message, message);
    if (is_it)
      n += at.done().reports(*x);
    else
      others += fmt::format("{}{} \"{}\"", others.empty() ? "" : "; ", reason, message);
  }
  if (wanted.count ? wanted.count->hold(static_cast<double>(n)) : n > 0)
    return std::nullopt;
  return fmt::format("{} such events{}{}", n, others.empty() ? "" : ", and ", others);
}

void read_events(const tree&, const tree& value, facts& out) {
  for (const auto& item : list_of(value).items) {
    mapping fields{item, "field of an event"};
    wanted_event wanted;
    const auto& on = fields.need("on");
    wanted.on = read_target(text_of(on), on);
    if (const auto* reason = fields.take("reason"))
      wanted.reason = text_of(*reason);
    if (const auto* message = fields.take("message"))
      wanted.message = read_fragments(*message);
    if (const auto* count = fields.take("count"))
      wanted.count = read_bounds(*count);
    fields.end();
    add_fact(out, item, fmt::format("events: [{}]", to_text(item)),
             [wanted](scene& at) { return look_at_event(at, wanted); });
  }
}

} // namespace

const std::vector<fact_word>& facts_about_words() {
  static const std::vector<fact_word> words{{"reason", read_reason},
                                            {"message", read_message},
                                            {"condition", read_condition},
                                            {"events", read_events}};
  return words;
}

} // namespace tutti::sim::scenario
