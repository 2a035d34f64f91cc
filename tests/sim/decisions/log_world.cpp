// The server's side of the decision log in tests, and the judge of what it holds.
#include "tests/sim/decisions/log_world.hpp"

#include <algorithm>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "base/attempt_text.hpp"
#include "bridge/pod_requests.hpp"

namespace tutti::sim::decisions {

namespace json = boost::json;
using api_server::kind_id;

// ---------------------------------------------------------------- history

void history::follow(const api_server::store& objects) {
  for (; seen_ < objects.end_event(kind_id::gang_decisions); ++seen_)
    take(objects.event_at(kind_id::gang_decisions, seen_));
}

void history::take(const api_server::event& e) {
  auto read = bridge::read_decision_object(json::parse(e.now->body).as_object());
  if (!read) {
    say(read.error().message());
    return;
  }
  const std::string name{read->name()};
  const auto before = latest_.find(name);
  if (e.what == api_server::change::deleted) {
    const bool is_open = before != latest_.end() && before->second.ordinal > 0
                         && before->second.verdict == "Committed" && !read->is_done;
    if (is_open)
      say(name + " is gone, and was not finished");
    latest_.erase(name);
    return;
  }
  if (before != latest_.end())
    compare(before->second, *read);
  if (read->ordinal > 0) {
    if (read->chunks.empty())
      if (const auto what = bridge::decision_of(*read, read->record); !what)
        say(what.error().message());
    const auto [pos, is_new] = winners_.emplace(std::pair{name, read->ordinal}, read->attempt);
    if (!is_new && pos->second != read->attempt)
      say(fmt::format("slot {} of {} has two winners", read->ordinal, name));
  }
  latest_.insert_or_assign(name, std::move(*read));
}

void history::compare(const bridge::decision_object& was, const bridge::decision_object& now) {
  const std::string name{now.name()};
  if (now.ordinal < was.ordinal)
    say(name + " goes back to an older slot");
  if (now.ordinal > was.ordinal) {
    if (was.ordinal > 0 && was.verdict == "Committed" && !was.is_done)
      say(name + " begins a slot while the one before is not done");
    return;
  }
  if (now.attempt != was.attempt || now.verdict != was.verdict)
    say(name + " has another winner than before");
  if (now.adopted_by < was.adopted_by)
    say(name + " was adopted by a later epoch before");
  if (was.is_done && !now.is_done)
    say(name + " was done and is open again");
  if (now.is_done)
    return;
  if (now.record != was.record || now.chunks != was.chunks)
    say(name + " has another plan than before");
  for (const auto& pod : was.cancelled)
    if (std::find(now.cancelled.begin(), now.cancelled.end(), pod) == now.cancelled.end())
      say(name + " has lost a cancelled member");
}

std::string history::winner(const base::slot_id& slot) const {
  const auto pos = winners_.find({bridge::decision_name(slot.gang), slot.ordinal});
  return pos == winners_.end() ? std::string{} : pos->second;
}

bool history::was_written(const base::attempt_id& by) const {
  return winner(base::slot_of(by)) == base::to_text(by);
}

std::optional<bridge::decision_object> history::now(const base::gang_uid& gang) const {
  const auto pos = latest_.find(bridge::decision_name(gang));
  return pos == latest_.end() ? std::nullopt : std::optional{pos->second};
}

// ---------------------------------------------------------------- world

log_world::log_world(std::size_t inline_bytes, std::size_t writers, bool has_others) {
  how_.roots.group_api_version = "scheduling.k8s.io/v1beta1";
  how_.inline_bytes = inline_bytes;
  how_.has_others = has_others;
  plane_ =
      std::make_unique<api_server::control_plane>(api_server::control_plane::options{}, clock_);
  plane_->begin();
  writers_.resize(writers);
  for (std::size_t n = 0; n < writers; ++n)
    restart(n);
}

void log_world::restart(std::size_t n) {
  if (writers_.at(n))
    for (auto& x : writers_[n]->log.open)
      if (x.request.method != "GET")
        late_.push_back(std::move(x.request));
  writers_[n] = std::make_unique<writer>(how_);
  hear(n, protocol::started{.epoch = {1}, .incarnation = {n + 1}, .seed = n + 1});
}

void log_world::hear(std::size_t n, const protocol::event& e) {
  writers_.at(n)->log.take(writers_[n]->role.on(e, clock_.now()));
}

void log_world::decide(std::size_t n, const protocol::decision& what) {
  tell(n, what.by.gang,
       protocol::slot_decide{what.by.gang, what.by.ordinal,
                             std::make_shared<const protocol::decision>(what)});
}

void log_world::amend(std::size_t n, const base::slot_id& slot, protocol::amendment what) {
  tell(n, slot.gang, protocol::slot_amend{slot.gang, slot.ordinal, std::move(what)});
}

void log_world::forget(std::size_t n, const base::gang_uid& gang) {
  tell(n, gang, protocol::slots_forget{gang});
}

void log_world::list(std::size_t n, std::uint64_t id) {
  hear(n,
       protocol::received{protocol::to(protocol::role_kind::keeper), protocol::slots_wanted{id}});
}

void log_world::asker_ends(std::size_t n, const base::gang_uid& gang) {
  hear(n, protocol::child_died{protocol::to_gang(gang)});
}

api_server::response log_world::ask(const protocol::http_request& what) {
  const api_server::request r{what.method, what.target, what.body,
                              what.content_type.empty() ? "application/json"
                                                        : std::string_view{what.content_type},
                              "application/json"};
  auto got = plane_->handle(r);
  past_.follow(plane_->objects());
  return std::move(got.now);
}

void log_world::answer(std::size_t n, fate what, std::size_t k) {
  auto& open = writers_.at(n)->log.open;
  ASSERT_LT(k, open.size()) << "writer " << n << " asks nothing";
  auto x = std::move(open[k]);
  writers_[n]->log.close(x.id);
  if (what == fate::served) {
    const auto got = ask(x.request);
    hear(n, protocol::answered{x.id, got.status, got.body, got.retry_after_s * 1000});
    return;
  }
  if (what == fate::applied_lost)
    ask(x.request);
  if (what == fate::late && x.request.method != "GET")
    late_.push_back(std::move(x.request));
  hear(n, protocol::answer_unknown{x.id, "reset"});
}

void log_world::refuse(std::size_t n, int status, std::string body, std::int64_t retry_after_ms,
                       std::size_t k) {
  auto& open = writers_.at(n)->log.open;
  ASSERT_LT(k, open.size()) << "writer " << n << " asks nothing";
  const auto id = open[k].id;
  writers_[n]->log.close(id);
  hear(n, protocol::answered{id, status, std::move(body), retry_after_ms});
}

void log_world::arrive_late() {
  ASSERT_FALSE(late_.empty());
  ask(late_.front());
  late_.pop_front();
}

void log_world::wait(std::size_t n) {
  clock_.passed += std::chrono::minutes{1};
  for (const auto& [timer, after] : std::exchange(writers_.at(n)->log.timers, {}))
    hear(n, protocol::timer_fired{timer});
}

void log_world::settle() {
  for (int rounds = 0; rounds < 100'000; ++rounds) {
    bool is_quiet = true;
    for (std::size_t n = 0; n < writers_.size(); ++n) {
      if (!writers_[n]->log.open.empty())
        answer(n, fate::served);
      else if (!writers_[n]->log.timers.empty())
        wait(n);
      else
        continue;
      is_quiet = false;
    }
    if (is_quiet)
      return;
  }
  FAIL() << "the writers do not come to rest";
}

void log_world::make_group(std::string_view name) {
  const auto made =
      ask({.method = "POST",
           .target = "/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups",
           .body = fmt::format(R"({{"metadata":{{"name":"{}"}},"spec":)"
                               R"({{"schedulingPolicy":{{"gang":{{"minCount":2}}}}}}}})",
                               name),
           .content_type = {}});
  ASSERT_EQ(made.status, 201) << made.body;
}

std::string log_world::uid_of_group(std::string_view name) {
  const auto found = plane_->objects().find(kind_id::pod_groups, fmt::format("default/{}", name));
  return found ? found->uid : std::string{};
}

void log_world::controllers_act() {
  plane_->on_time(clock_.now());
  past_.follow(plane_->objects());
}

int log_world::status_of(const base::gang_uid& gang) {
  return ask(bridge::get_decision_request("default", bridge::decision_name(gang))).status;
}

std::size_t log_world::chunks() {
  return plane_->objects().all(kind_id::gang_decision_chunks).size();
}

protocol::decision proposal::make() const {
  protocol::decision out;
  out.by = {{gang}, ordinal, {epoch}, try_no};
  out.what = what;
  out.gang_name = {space, gang};
  if (what == protocol::verdict::aborted)
    return out;
  out.groups.push_back({gang, gang, static_cast<std::uint32_t>(members), {}});
  out.bound_already = {0};
  protocol::slice part;
  for (std::size_t m = 0; m < members; ++m) {
    protocol::seat s;
    s.pod = {fmt::format("{}-{}", gang, m)};
    s.pod_name = s.pod.value;
    s.node = {fmt::format("n{}", try_no)};
    s.node_name = {s.node.value};
    part.seats.push_back(std::move(s));
    out.seat_versions.push_back("1");
  }
  out.chosen.slices.push_back(std::move(part));
  return out;
}

} // namespace tutti::sim::decisions
