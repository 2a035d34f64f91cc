// The checkpoint of the queue as JSON, and explanations as JSON for it and for readers.
#include "queue/memory.hpp"

#include <vector>

namespace tutti::queue {

namespace {

namespace json = boost::json;
using base::reason_code;

constexpr std::int64_t format_version = 2;

std::string text_of(const json::object& x, std::string_view key) {
  const auto* v = x.if_contains(key);
  return v && v->is_string() ? std::string{v->get_string()} : std::string{};
}

template <class T>
T number_of(const json::object& x, std::string_view key) {
  const auto* v = x.if_contains(key);
  if (!v)
    return 0;
  boost::system::error_code failed;
  const auto n = v->to_number<T>(failed);
  return failed ? T{0} : n;
}

/// Calls `use` with each object of the array at `key`; anything else there is passed over.
template <class Use>
void for_each_object(const json::object& x, std::string_view key, Use use) {
  const auto* list = x.if_contains(key);
  if (!list || !list->is_array())
    return;
  for (const auto& item : list->get_array())
    if (item.is_object())
      use(item.get_object());
}

reason_code reason_from(std::string_view name) {
  for (int i = 0; i <= static_cast<int>(reason_code::scheduler_error); ++i)
    if (base::name_of(static_cast<reason_code>(i)) == name)
      return static_cast<reason_code>(i);
  return reason_code::none;
}

/// What is zero is left out.
json::object entry_of(const base::gang_uid& uid, const remembered& x) {
  json::object out{{"uid", uid.value}, {"namespace", x.name.space}, {"name", x.name.name}};
  if (x.is_lone_pod)
    out["lone"] = true;
  const auto add = [&out](std::string_view key, auto n) {
    if (n != 0)
      out[key] = n;
  };
  add("attempts", x.attempts);
  add("refused", x.refused);
  add("errors", x.errors);
  add("conflicts", x.conflicts);
  add("rest_ms", x.rest_ms);
  if (!x.held_by.empty())
    out["held_by"] = json::array(x.held_by.begin(), x.held_by.end());
  return out;
}

/// All but the version of the view, in which explanations of equal gangs differ, and the text.
json::object fields_of(const base::explanation& x) {
  json::array others, rejected, closest;
  for (auto code : x.others)
    others.emplace_back(base::name_of(code));
  for (const auto& r : x.rejected)
    rejected.push_back(json::object{{"cause", r.cause}, {"nodes", r.nodes}});
  for (const auto& d : x.closest)
    closest.push_back(json::object{
        {"level", d.level}, {"domain", d.domain}, {"wanted", d.wanted}, {"placed", d.placed}});
  return {{"reason", base::name_of(x.primary)},
          {"others", std::move(others)},
          {"nodes_seen", x.nodes_seen},
          {"nodes_fit", x.nodes_fit},
          {"rejected", std::move(rejected)},
          {"closest", std::move(closest)},
          {"wanted", x.wanted},
          {"placed", x.placed},
          {"dimension", x.dimension},
          {"short_by", x.short_by},
          {"detail", x.detail}};
}

remembered remembered_from(const json::object& x) {
  remembered out{.name = {text_of(x, "namespace"), text_of(x, "name")},
                 .is_lone_pod = x.contains("lone") && x.at("lone") == json::value(true),
                 .attempts = number_of<std::uint32_t>(x, "attempts"),
                 .refused = number_of<std::uint32_t>(x, "refused"),
                 .errors = number_of<std::uint32_t>(x, "errors"),
                 .conflicts = number_of<std::uint32_t>(x, "conflicts"),
                 .rest_ms = number_of<std::int64_t>(x, "rest_ms"),
                 .held_by = {},
                 .why = {}};
  if (const auto* list = x.if_contains("held_by"); list && list->is_array())
    for (const auto& item : list->get_array())
      if (item.is_string())
        out.held_by.emplace_back(item.get_string());
  return out;
}

/// Of one gang: its own (version 1), or one of the list that all share.
std::optional<base::explanation> why_of(const json::object& gang,
                                        const std::vector<base::explanation>& whys) {
  const auto* why = gang.if_contains("why");
  if (!why)
    return std::nullopt;
  if (why->is_object())
    return explanation_from(why->get_object());
  const auto at = number_of<std::size_t>(gang, "why");
  if (!why->is_number() || at >= whys.size())
    return std::nullopt;
  auto out = whys[at];
  out.view_version = number_of<std::uint64_t>(gang, "view_version");
  return out;
}

} // namespace

json::object to_json(const base::explanation& x) {
  auto out = fields_of(x);
  out["view_version"] = x.view_version;
  out["text"] = base::to_text(x);
  return out;
}

base::explanation explanation_from(const json::object& x) {
  base::explanation out;
  out.primary = reason_from(text_of(x, "reason"));
  if (const auto* list = x.if_contains("others"); list && list->is_array())
    for (const auto& item : list->get_array())
      if (item.is_string())
        out.others.push_back(reason_from(item.get_string()));
  out.nodes_seen = number_of<std::int64_t>(x, "nodes_seen");
  out.nodes_fit = number_of<std::int64_t>(x, "nodes_fit");
  for_each_object(x, "rejected", [&](const json::object& r) {
    out.rejected.push_back({text_of(r, "cause"), number_of<std::int64_t>(r, "nodes")});
  });
  for_each_object(x, "closest", [&](const json::object& d) {
    out.closest.push_back({text_of(d, "level"), text_of(d, "domain"),
                           number_of<std::int64_t>(d, "wanted"),
                           number_of<std::int64_t>(d, "placed")});
  });
  out.wanted = number_of<std::int64_t>(x, "wanted");
  out.placed = number_of<std::int64_t>(x, "placed");
  out.dimension = text_of(x, "dimension");
  out.short_by = number_of<std::int64_t>(x, "short_by");
  out.detail = text_of(x, "detail");
  out.view_version = number_of<std::uint64_t>(x, "view_version");
  return out;
}

void memory_writer::add(const base::gang_uid& uid, const remembered& x,
                        const base::explanation* why, std::uint64_t view_version) {
  auto entry = entry_of(uid, x);
  if (why) {
    const auto next = whys_.size();
    entry["why"] = whys_.try_emplace(json::serialize(fields_of(*why)), next).first->second;
    entry["view_version"] = view_version;
  }
  gangs_ += gangs_.empty() ? "" : ",";
  gangs_ += json::serialize(entry);
}

std::string memory_writer::take() {
  std::vector<const std::string*> in_order(whys_.size());
  for (const auto& [text, at] : whys_)
    in_order[at] = &text;
  auto out = "{\"version\":" + std::to_string(format_version) + ",\"gangs\":[";
  out.append(gangs_).append("],\"whys\":[");
  for (const auto* text : in_order)
    out.append(text == in_order.front() ? "" : ",").append(*text);
  return out + "]}";
}

std::string encode(const memories& x) {
  memory_writer out;
  for (const auto& [uid, one] : x)
    out.add(uid, one, one.why ? &*one.why : nullptr, one.why ? one.why->view_version : 0);
  return out.take();
}

base::result<memories> decode(std::string_view bytes) {
  using base::code;
  boost::system::error_code failed;
  json::monotonic_resource memory;
  const auto value = json::parse(bytes, failed, &memory);
  if (failed || !value.is_object())
    return base::error{code::corrupt, "queue checkpoint: not an object"};
  const auto& root = value.get_object();
  const auto version = number_of<std::int64_t>(root, "version");
  if (version > format_version)
    return base::error{code::newer_format, "queue checkpoint: version " + std::to_string(version)};
  if (version < 1)
    return base::error{code::corrupt, "queue checkpoint: no version"};
  std::vector<base::explanation> whys;
  for_each_object(root, "whys",
                  [&](const json::object& one) { whys.push_back(explanation_from(one)); });
  memories out;
  for_each_object(root, "gangs", [&](const json::object& one) {
    auto read = remembered_from(one);
    read.why = why_of(one, whys);
    out.emplace(base::gang_uid{text_of(one, "uid")}, std::move(read));
  });
  return out;
}

} // namespace tutti::queue
