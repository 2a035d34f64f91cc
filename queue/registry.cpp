// What pods and groups add up to: membership, counts, and the gang as an attempt sees it.
#include "queue/registry.hpp"

#include <algorithm>
#include <tuple>

#include "base/ensure.hpp"

namespace tutti::queue {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Cuts the leading run of digits off `text`, without leading zeros.
std::string_view cut_number(std::string_view& text) {
  const auto end = std::min(text.find_first_not_of("0123456789"), text.size());
  auto number = text.substr(0, end);
  text.remove_prefix(end);
  number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
  return number;
}

bool is_older(const pod_entry* a, const pod_entry* b) {
  if (a->created_ms != b->created_ms)
    return a->created_ms < b->created_ms;
  if (a->name != b->name)
    return rank_less(a->name, b->name);
  return a->uid < b->uid;
}

void insert_member(gang_entry& g, pod_entry& pod) {
  g.members.insert(std::upper_bound(g.members.begin(), g.members.end(), &pod, is_older), &pod);
}

void erase_member(gang_entry& g, const pod_entry& pod) {
  const auto pos = std::find(g.members.begin(), g.members.end(), &pod);
  ensure(pos != g.members.end(), pod.uid.text());
  g.members.erase(pos);
}

/// Pending members in the order of Q-11.
std::vector<const pod_entry*> trial_order(const gang_entry& g) {
  std::map<const base::shape*, std::size_t> oldest; // by its place in `members`; never iterated
  std::vector<std::tuple<std::int32_t, std::size_t, std::size_t>> keys;
  for (std::size_t i = 0; i < g.members.size(); ++i) {
    const auto& pod = *g.members[i];
    if (!pod.is_pending())
      continue;
    const auto first = oldest.emplace(pod.kind.get(), i).first->second;
    keys.emplace_back(-pod.priority, first, i);
  }
  std::sort(keys.begin(), keys.end());
  std::vector<const pod_entry*> order;
  order.reserve(keys.size());
  for (const auto& [priority, first, i] : keys)
    order.push_back(g.members[i]);
  return order;
}

} // namespace

bool rank_less(std::string_view a, std::string_view b) {
  const auto whole_a = a, whole_b = b;
  while (!a.empty() && !b.empty()) {
    if (is_digit(a.front()) && is_digit(b.front())) {
      const auto x = cut_number(a), y = cut_number(b);
      if (x != y)
        return x.size() != y.size() ? x.size() < y.size() : x < y;
    } else if (a.front() != b.front()) {
      return a.front() < b.front();
    } else {
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  if (a.empty() != b.empty())
    return a.empty();
  return whole_a < whole_b; // "w-1" and "w-01"
}

base::gang_uid gang_entry::uid() const {
  if (is_lone_pod())
    return {members.front()->uid.text()};
  return {group->facts ? group->facts->uid : std::string{}};
}

const std::string& gang_entry::space() const {
  return is_lone_pod() ? *members.front()->space : group->name.space;
}

const std::string& gang_entry::short_name() const {
  return is_lone_pod() ? members.front()->name : group->name.name;
}

std::int32_t gang_entry::priority() const {
  if (!is_lone_pod() && group->facts)
    return group->facts->priority;
  return members.empty() ? 0 : members.front()->priority;
}

std::int64_t gang_entry::created_ms() const {
  if (!is_lone_pod() && group->facts)
    return group->facts->created.unix_ms;
  return members.empty() ? 0 : members.front()->created_ms;
}

std::uint32_t gang_entry::min_count() const {
  return !is_lone_pod() && group->facts ? group->facts->min_count : 1;
}

std::uint32_t gang_entry::owed() const {
  return static_cast<std::uint32_t>(std::count_if(
      members.begin(), members.end(), [](const pod_entry* pod) { return pod->is_owed; }));
}

tally count(const gang_entry& g) {
  tally t;
  for (const auto* pod : g.members) {
    t.ours += pod->scheduler >= 0 ? 1u : 0u;
    if (pod->is_pending())
      ++t.pending;
    else if (pod->is_bound())
      ++t.bound;
    else if (pod->is_live())
      ++t.gated;
    else if (pod->is_terminal)
      ++t.finished;
  }
  return t;
}

protocol::gang assemble(const gang_entry& g) {
  ensure(g.is_lone_pod() || g.group->facts.has_value(), protocol::to_text(g.name()));
  protocol::gang out{
      .uid = g.uid(), .name = g.name(), .is_lone_pod = g.is_lone_pod(), .priority = g.priority()};
  if (g.is_lone_pod()) {
    out.groups.push_back({});
  } else {
    const auto& facts = *g.group->facts;
    out.groups.push_back({facts.name.name, facts.uid, facts.min_count, facts.topology_key});
    out.has_started = facts.has_started || g.has_run || count(g).bound >= facts.min_count;
    out.never_preempts = facts.never_preempts;
  }
  const auto add = [&](const pod_entry& pod) {
    out.members.push_back(
        {{pod.uid.text()}, pod.name, 0, pod.kind, {pod.node()}, pod.resource_version(), pod.ties});
  };
  for (const auto* pod : trial_order(g)) {
    add(*pod);
    out.never_preempts |= pod->never_preempts; // P-3
  }
  for (const auto* pod : g.members)
    if (pod->is_bound())
      add(*pod);
  return out;
}

pod_entry* registry::find_pod(const base::pod_uid& uid) {
  const auto pos = pods_.find(base::packed_uid{uid.value});
  return pos == pods_.end() ? nullptr : pos->get();
}

gang_entry* registry::find_gang(const base::gang_uid& uid) {
  if (const auto pos = by_uid_.find(base::packed_uid{uid.value}); pos != by_uid_.end())
    return pos->second;
  auto* pod = find_pod({uid.value});
  return pod ? pod->own.get() : nullptr;
}

gang_entry* registry::find_group(const protocol::object_name& name) {
  const auto pos = groups_.find(name);
  return pos == groups_.end() ? nullptr : pos->get();
}

const gang_entry* registry::find_named(const protocol::object_name& name) const {
  if (const auto pos = groups_.find(name); pos != groups_.end())
    return pos->get();
  for (const auto& pod : pods_) // a live pod's name is unique: the order does not matter
    if (pod->own && pod->name == name.name && *pod->space == name.space)
      return pod->own.get();
  return nullptr;
}

gang_entry& registry::group_named(const protocol::object_name& name) {
  if (auto* known = find_group(name))
    return *known;
  auto made = std::make_unique<gang_entry>();
  made->group = std::make_unique<group_part>();
  made->group->name = name;
  return **groups_.insert(std::move(made)).first;
}

void registry::fill(pod_entry& pod, const protocol::pod_facts& x) const {
  const auto ours = std::find(how_.schedulers.begin(), how_.schedulers.end(), x.scheduler);
  pod.scheduler = ours == how_.schedulers.end()
                      ? std::int16_t{-1}
                      : static_cast<std::int16_t>(ours - how_.schedulers.begin());
  pod.kind = x.kind;
  pod.ties = x.ties;
  pod.has_node = !x.node.value.empty();
  pod.place = pod.has_node ? x.node.value : x.resource_version;
  pod.priority = x.priority;
  pod.never_preempts = x.never_preempts;
  pod.is_gated = x.is_gated;
  pod.is_terminal = x.is_terminal;
  pod.is_deleting = x.is_deleting;
  const auto& why_not = pod.scheduler < 0 && !x.group.empty() ? x.scheduler : x.refused;
  pod.refused = why_not.empty() ? nullptr : std::make_unique<const std::string>(why_not);
}

/// Where a group has no priority of its own, its members' highest counts.
void registry::follow_members(gang_entry& g) const {
  if (how_.has_group_priorities || g.is_lone_pod() || !g.group->facts)
    return;
  auto& facts = *g.group->facts;
  facts.priority = 0;
  bool is_first = true;
  for (const auto* pod : g.members)
    if (pod->is_live()) {
      facts.priority = is_first ? pod->priority : std::max(facts.priority, pod->priority);
      is_first = false;
    }
}

registry::pod_news registry::put(const protocol::pod_facts& x) {
  auto* pod = find_pod(x.uid);
  const bool is_new = pod == nullptr;
  if (is_new) {
    auto made = std::make_unique<pod_entry>();
    pod = made.get();
    pod->uid = base::packed_uid{x.uid.value};
    pod->name = x.name.name;
    pod->created_ms = x.created.unix_ms;
    if (x.group.empty()) {
      pod->space = std::make_unique<const std::string>(x.name.space);
      pod->own = std::make_unique<gang_entry>();
      pod->gang = pod->own.get();
    } else {
      pod->gang = &group_named({x.name.space, x.group});
    }
    pods_.insert(std::move(made));
    ++heard_of_;
    if (pod->gang->members.empty())
      pod->gang->came = heard_of_;
    insert_member(*pod->gang, *pod);
  }
  const bool was_pending = !is_new && pod->is_pending();
  const bool was_live = !is_new && pod->is_live();
  const auto old_kind = pod->kind;
  const auto old_ties = pod->ties;
  pod->is_retold = true;
  fill(*pod, x);
  follow_members(*pod->gang);
  pod_news news{.gang = pod->gang};
  news.may_help = pod->is_pending() ? !was_pending || old_kind != pod->kind || old_ties != pod->ties
                                    : was_live && !pod->is_live();
  pod->is_owed = pod->is_owed && pod->is_pending();
  return news;
}

registry::pod_news registry::drop(pod_entry& pod) {
  pod_news news{.gang = pod.gang, .may_help = pod.is_live()};
  if (pod.own) {
    news.gang = nullptr;
  } else {
    erase_member(*pod.gang, pod);
    if (pod.gang->members.empty())
      pod.gang->came = 0;
    follow_members(*pod.gang);
    forget_if_empty(news.gang);
  }
  const auto pos = pods_.find(pod.uid);
  ensure(pos != pods_.end(), pod.uid.text());
  pods_.erase(pos);
  return news;
}

gang_entry& registry::put(const protocol::group_facts& x) {
  auto& g = group_named(x.name);
  ensure(!g.group->facts || g.group->facts->uid == x.uid, x.uid);
  auto& part = *g.group;
  part.facts = x;
  part.is_retold = true;
  // What was said and is not there may be lost; saying it again costs nothing if it is not.
  part.is_start_said = false;
  if (part.degraded_said != x.is_degraded)
    part.degraded_said.reset();
  follow_members(g);
  by_uid_[base::packed_uid{x.uid}] = &g;
  return g;
}

gang_entry* registry::drop_group(gang_entry& g) {
  ensure(!g.is_lone_pod() && g.group->facts.has_value());
  by_uid_.erase(base::packed_uid{g.group->facts->uid});
  g.group->facts.reset();
  g.group->is_start_said = false;
  g.group->degraded_said.reset();
  auto* left = &g;
  forget_if_empty(left);
  return left;
}

void registry::forget_if_empty(gang_entry*& g) {
  if (!g->members.empty() || g->group->facts)
    return;
  ensure(!g->life || !g->life->is_placed, protocol::to_text(g->group->name));
  groups_.erase(groups_.find(g->group->name));
  g = nullptr;
}

void registry::expect_everything() {
  for (const auto& g : groups_)
    g->group->is_retold = false;
  for (const auto& pod : pods_)
    pod->is_retold = false;
}

registry::untold registry::not_retold() const {
  untold out;
  for (const auto& g : groups_)
    if (g->group->facts && !g->group->is_retold)
      out.groups.push_back({g->group->facts->uid, g->group->name});
  for (const auto& pod : pods_)
    if (!pod->is_retold)
      out.pods.push_back({pod->uid.text()});
  std::sort(out.pods.begin(), out.pods.end());
  return out;
}

std::vector<gang_entry*> registry::all() const {
  std::vector<gang_entry*> out;
  for (const auto& g : groups_)
    out.push_back(g.get());
  const auto lone = static_cast<std::ptrdiff_t>(out.size());
  for (const auto& pod : pods_)
    if (pod->own)
      out.push_back(pod->own.get());
  std::sort(out.begin() + lone, out.end(), [](const gang_entry* a, const gang_entry* b) {
    const auto *x = a->members.front(), *y = b->members.front();
    return std::tie(*x->space, x->name, x->uid) < std::tie(*y->space, y->name, y->uid);
  });
  return out;
}

} // namespace tutti::queue
