#include "sim/scenario/faults.hpp"

#include <algorithm>

#include <boost/json.hpp>

namespace tutti::sim::scenario {

namespace {

constexpr auto gone_status = 410;

bool matches(const std::string& pattern, const std::string& part) {
  return pattern == "*" || pattern == part;
}

/// Segments of what is asked for, with or without its namespace.
std::vector<std::string> segments_of(const asked_path& to, bool with_space) {
  std::vector<std::string> out{to.resource};
  if (with_space)
    out.push_back(to.space);
  if (!to.name.empty())
    out.push_back(to.name);
  if (!to.subresource.empty())
    out.push_back(to.subresource);
  return out;
}

bool matches(const std::vector<std::string>& pattern, const std::vector<std::string>& path) {
  return pattern.size() == path.size()
         && std::equal(pattern.begin(), pattern.end(), path.begin(),
                       [](const auto& a, const auto& b) { return matches(a, b); });
}

/// "ns/name" of the object in a line of a watch, and the event's type.
struct told_line {
  std::string type;
  std::string key;
};

told_line read_line(std::string_view line) {
  boost::system::error_code failed;
  const auto value = boost::json::parse(line, failed);
  told_line out;
  if (failed || !value.is_object())
    return out;
  out.type = api_server::text_at(value.get_object(), {"type"});
  out.key = api_server::key_of(
      api_server::text_at(value.get_object(), {"object", "metadata", "namespace"}),
      api_server::text_at(value.get_object(), {"object", "metadata", "name"}));
  return out;
}

} // namespace

faults::faults(world& w, tally& counts, bool remembers)
    : world_(w), counts_(counts), remembers_(remembers) {
  world_.api().judges([this](const std::string& client, const protocol::http_request& request) {
    counts_.sent(client, request);
    return judge(client, request);
  });
  world_.api().judges_watches([this](const std::string&, const std::string& target) {
    watch_verdict out;
    const auto pos = watches_.find(path_of(target).resource);
    if (pos == watches_.end())
      return out;
    out.copies = pos->second.is_double ? 2 : 1;
    out.delay = std::max(pos->second.stalls_until - world_.time().now(), base::duration{});
    return out;
  });
  world_.api().edits_lines(
      [this](const std::string& client, const std::string& target, std::string lines) {
        return edit(client, target, std::move(lines));
      });
}

void faults::add(const api_rule& rule) {
  live_rule out{rule, 0, 0, {}};
  if (rule.lasts)
    out.until = world_.time().now() + *rule.lasts;
  rules_.push_back(std::move(out));
}

bool faults::is_stalling() const {
  const auto now = world_.time().now();
  return std::any_of(watches_.begin(), watches_.end(),
                     [&](const auto& w) { return w.second.stalls_until > now; });
}

bool faults::is_meant(const api_rule& rule, const std::string& client,
                      const protocol::http_request& request) {
  const auto to = path_of(request.target);
  if (!rule.process.empty() && rule.process != client)
    return false;
  if (rule.is_any_write)
    return request.method != "GET" && to.resource != "leases";
  const bool is_verb =
      rule.verb == "*" || rule.verb == request.method || (rule.verb == "WATCH" && to.is_watch)
      || (rule.verb == "LIST" && request.method == "GET" && !to.is_watch && to.name.empty());
  return is_verb
         && (matches(rule.path, segments_of(to, false))
             || matches(rule.path, segments_of(to, true)));
}

api_verdict faults::verdict_of(const api_rule& rule) const {
  using effect = api_rule::effect;
  api_verdict out;
  out.delay = rule.delay;
  out.retry_after_s = rule.retry_after_s;
  switch (rule.what) {
  case effect::late:
    break;
  case effect::status:
    out.becomes = api_verdict::what::answer;
    out.status = rule.status;
    break;
  case effect::timeout_applied:
    out.becomes = api_verdict::what::applied_lost;
    out.is_silent = true;
    break;
  case effect::timeout_lost:
    out.becomes = api_verdict::what::lost;
    out.is_silent = true;
    break;
  }
  return out;
}

/// The first rule that is not used up decides; one that only skips lets the next one speak.
api_verdict faults::judge(const std::string& client, const protocol::http_request& request) {
  const auto to = path_of(request.target);
  if (to.is_watch)
    if (const auto pos = watches_.find(to.resource);
        pos != watches_.end() && pos->second.gone_for.erase(client) > 0)
      return {.becomes = api_verdict::what::answer, .status = gone_status};
  for (auto& rule : rules_) {
    const bool is_used_up = (rule.how.times && rule.used >= *rule.how.times)
                            || (rule.until && world_.time().now() >= *rule.until);
    if (is_used_up || !is_meant(rule.how, client, request))
      continue;
    if (++rule.seen <= rule.how.skip)
      continue;
    if (rule.how.of > 1 && !world_.chance().api.chance(rule.how.share, rule.how.of))
      continue;
    ++rule.used;
    counts_.note("fault: " + client + " " + request.method + " " + request.target);
    return verdict_of(rule.how);
  }
  return {};
}

bool faults::perform(const watch_step& x) {
  auto& watch = watches_[x.plural];
  if (x.stall)
    watch.stalls_until = world_.time().now() + *x.stall;
  else if (x.is_double)
    watch.is_double = true;
  else if (x.is_gone) {
    for (std::size_t n = 0; n < world_.processes(); ++n)
      watch.gone_for.insert(world_.at(n).name());
    world_.api().cut_watches({}, x.plural);
  } else if (x.whom && x.is_again) {
    const auto pos = told_.find({x.plural, x.whom->key, x.event_type});
    if (pos == told_.end())
      return false;
    world_.api().say_again(
        [&](const std::string&, const std::string& target) {
          return path_of(target).resource == x.plural;
        },
        pos->second);
  } else if (x.whom) {
    for (std::size_t n = 0; n < world_.processes(); ++n)
      ++watch.drops[{world_.at(n).name() + " " + x.whom->key, x.event_type}];
  }
  return true;
}

/// Remembers the events and leaves out those that are to be dropped, each once per client.
std::string faults::edit(const std::string& client, const std::string& target, std::string lines) {
  if (!remembers_ && watches_.empty())
    return lines;
  const auto to = path_of(target);
  std::string out;
  std::string_view rest = lines;
  while (!rest.empty()) {
    const auto end = rest.find('\n');
    const auto length = end == std::string_view::npos ? rest.size() : end + 1;
    const auto line = rest.substr(0, length);
    rest.remove_prefix(length);
    const auto read = read_line(line);
    if (auto watch = watches_.find(to.resource); watch != watches_.end()) {
      auto& drops = watch->second.drops;
      const auto pos = drops.find({client + " " + read.key, read.type});
      if (pos != drops.end()) {
        if (--pos->second == 0)
          drops.erase(pos);
        counts_.note("fault: " + client + " does not hear " + read.type + " " + read.key);
        continue;
      }
    }
    if (remembers_ && read.type != "BOOKMARK" && !read.type.empty())
      told_[{to.resource, read.key, read.type}] = line;
    out += line;
  }
  return out;
}

} // namespace tutti::sim::scenario
