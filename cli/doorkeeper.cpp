// The questions to an API server, and the exchanges that wait for their answers.
#include "cli/doorkeeper.hpp"

#include <algorithm>
#include <future>
#include <utility>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "bridge/json_read.hpp"
#include "bridge/printable.hpp"
#include "cli/output.hpp"

namespace tutti::cli {

namespace {

namespace json = boost::json;
using base::code;
using base::error;

/// Whoever is told something once need not hear it again so soon: connections that were made before
/// go on answering while no new one can be made.
constexpr auto warning_rest = std::chrono::minutes{1};
/// More warnings than these, all different, are one trouble in many words.
constexpr std::size_t warnings_most = 16;
/// So much of what a server says of its version is shown.
constexpr std::size_t version_bytes_shown = 60;
/// The first release with groups of pods is 1.35.
constexpr int oldest_minor = 35;

json::object object_in(const std::string& body) {
  boost::system::error_code ec;
  auto parsed = json::parse(body, ec);
  return ec || !parsed.is_object() ? json::object{} : std::move(parsed.as_object());
}

/// "1.37" of "v1.37.2": of a release that is not known yet, too, for what it serves decides.
base::result<std::string> release_in(const json::object& version, const std::string& who) {
  const auto full = bridge::printable(bridge::text_at(version, "gitVersion"), version_bytes_shown);
  const auto end = full.starts_with("v1.") ? full.find_first_not_of("0123456789", 3) : 0;
  const auto minor = end == 0 ? std::string{} : full.substr(3, end == full.npos ? end : end - 3);
  const bool is_old = minor.empty() || (minor.size() < 3 && std::stoi(minor) < oldest_minor);
  if (!is_old)
    return "1." + minor;
  return error{code::bad_input,
               fmt::format("the API server at {} is Kubernetes {}", who,
                           full.empty() ? "of an unknown version" : full),
               fmt::format("this program speaks 1.{} and later", oldest_minor)};
}

/// Those that are served, of an APIGroup.
std::vector<api::dialect> dialects_in(const json::object& group) {
  std::vector<api::dialect> out;
  const auto* versions = group.if_contains("versions");
  if (versions != nullptr && versions->is_array())
    for (const auto& x : versions->get_array())
      if (x.is_object())
        if (const auto one = api::dialect_of(bridge::text_at(x.get_object(), "version")))
          out.push_back(*one);
  return out;
}

/// Of an APIResourceList.
bool has_pod_groups(const json::object& kinds) {
  const auto* all = kinds.if_contains("resources");
  if (all == nullptr || !all->is_array())
    return false;
  return std::any_of(all->get_array().begin(), all->get_array().end(), [](const auto& x) {
    return x.is_object() && bridge::text_at(x.get_object(), "name") == "podgroups";
  });
}

} // namespace

doorkeeper::doorkeeper(bridge::connector_ptr where, bridge::http_client::options how, words called,
                       const base::clock& time)
    : doorkeeper(std::move(called), time) {
  how.failed = [this](const error& e, bool needs_human) { on_failed(e, needs_human); };
  client_ = std::make_unique<bridge::http_client>(std::move(where), std::move(how));
}

doorkeeper::~doorkeeper() = default;

base::result<std::unique_ptr<doorkeeper>>
doorkeeper::open_with(const client_maker& make, words called, const base::clock& time) {
  std::unique_ptr<doorkeeper> out{new doorkeeper{std::move(called), time}};
  auto made = make([me = out.get()](const error& e, bool human) { me->on_failed(e, human); });
  if (!made)
    return made.error();
  out->client_ = std::move(*made);
  return out;
}

void doorkeeper::on_failed(const error& e, bool needs_human) {
  const std::lock_guard lock{mutex_};
  last_failure_ = e;
  if (state_ != state::open || !needs_human || warned_.size() >= warnings_most)
    return;
  if (warned_.empty())
    warned_since_ = clock_.now();
  if (warned_.insert(e.message()).second)
    print_warning(e.in(called_.name));
}

/// Whoever is answered has nothing to mend any more: the same trouble would be a new one.
void doorkeeper::on_answer(const bridge::http_event& heard) {
  const auto* said = std::get_if<protocol::answered>(&heard);
  const bool is_known = said != nullptr ? said->status != 401
                                        : std::holds_alternative<protocol::stream_opened>(heard);
  if (!is_known)
    return;
  const std::lock_guard lock{mutex_};
  if (clock_.now() - warned_since_ >= warning_rest)
    warned_.clear();
}

/// The answer to a question, if it was answered with 200.
base::result<json::object> doorkeeper::answer_of(const bridge::http_event& heard,
                                                 const char* what) {
  const auto* said = std::get_if<protocol::answered>(&heard);
  if (said == nullptr) {
    const std::lock_guard lock{mutex_};
    const auto* lost = std::get_if<protocol::answer_unknown>(&heard);
    const auto& why = last_failure_;
    if (why.what() != code::ok && why.what() != code::unavailable)
      return why.in(called_.name);
    return error{code::unavailable,
                 fmt::format("no API server answers at {}: {}", called_.name,
                             lost != nullptr ? lost->why : "?"),
                 !why.hint().empty() ? why.hint() : "start it, or name another API server"};
  }
  if (said->body.find("HTTPS") != std::string::npos && said->status == 400)
    return error{
        code::bad_input, called_.name + " speaks TLS",
        fmt::format("call it https://{}, or name a kubeconfig with --kubeconfig", called_.name)};
  if (said->status == 401)
    return bridge::unknown_to_server().in(called_.name);
  if (said->status == 403)
    return error{code::forbidden, fmt::format("{} may not be read at {}", what, called_.name),
                 fmt::format("the right to get the {} is needed", what)};
  if (said->status >= 500 || said->status == 429)
    return error{
        code::unavailable,
        fmt::format("the API server at {} answers {} to {}", called_.name, said->status, what),
        "look at its health: kubectl get --raw /readyz"};
  auto body = object_in(said->body);
  if (said->status != 200 || body.empty())
    return error{code::bad_input,
                 fmt::format("{} does not speak like an API server: it answers {} to {}",
                             called_.name, said->status, what),
                 "name another API server"};
  return body;
}

/// Exchanges of the doorkeeper's own: the process counts its own from below and never gets there. A
/// question that was given up may still be followed by its next one, beside the first of another.
std::uint64_t doorkeeper::fresh_id() {
  return --last_id_;
}

void doorkeeper::ask_then(heard_facts heard) {
  {
    const std::lock_guard lock{mutex_};
    last_failure_ = {}; // what is said of this question is about this question
  }
  client_->start(fresh_id(), {.method = "GET", .target = "/version"},
                 [this, heard = std::move(heard)](bridge::http_event e) {
                   auto version = answer_of(e, "/version");
                   if (!version)
                     return heard(version.error());
                   auto release = release_in(*version, called_.name);
                   if (!release)
                     return heard(release.error());
                   ask_dialect({.kubernetes = std::move(*release)}, heard);
                 });
}

/// What is served decides in which dialect groups are spoken of, and not the release: both depend
/// on gates.
void doorkeeper::ask_dialect(cluster_facts so_far, heard_facts heard) {
  client_->start(fresh_id(), {.method = "GET", .target = "/apis/scheduling.k8s.io"},
                 [this, so_far, heard = std::move(heard)](bridge::http_event e) mutable {
                   const auto* said = std::get_if<protocol::answered>(&e);
                   if (said == nullptr || said->status != 404) {
                     const auto group = answer_of(e, "group scheduling.k8s.io");
                     if (!group)
                       return heard(group.error());
                     so_far.served = dialects_in(*group);
                   }
                   ask_own(std::move(so_far), heard);
                 });
}

/// Beside groups of its own, or without them, the cluster may have those of our kind.
void doorkeeper::ask_own(cluster_facts so_far, heard_facts heard) {
  const auto target = fmt::format("/apis/{}", api::api_version_of(api::dialect::own));
  client_->start(fresh_id(), {.method = "GET", .target = target},
                 [this, so_far, heard = std::move(heard)](bridge::http_event e) mutable {
                   const auto* said = std::get_if<protocol::answered>(&e);
                   if (said == nullptr || said->status != 404) {
                     const auto kinds = answer_of(e, "group tutti.dev");
                     if (!kinds)
                       return heard(kinds.error());
                     if (has_pod_groups(*kinds))
                       so_far.served.push_back(api::dialect::own);
                   }
                   ask_space(std::move(so_far), heard);
                 });
}

void doorkeeper::ask_space(cluster_facts so_far, heard_facts heard) {
  client_->start(
      fresh_id(), {.method = "GET", .target = "/api/v1/namespaces/kube-system"},
      [this, so_far, heard = std::move(heard)](bridge::http_event e) mutable {
        const auto space = answer_of(e, "namespace kube-system");
        if (!space)
          return heard(space.error());
        const auto* meta = bridge::object_at(*space, "metadata");
        so_far.uid = meta != nullptr ? bridge::text_at(*meta, "uid") : "";
        if (so_far.uid.empty())
          return heard(
              error{code::bad_input, called_.name + " has a namespace kube-system without a uid"});
        heard(std::move(so_far));
      });
}

std::optional<api::dialect> cluster_facts::spoken() const {
  std::optional<api::dialect> out;
  for (const auto d : served)
    if (!out || *out == api::dialect::own || (d != api::dialect::own && *out < d))
      out = d;
  return out;
}

bool doorkeeper::is_open() {
  const std::lock_guard lock{mutex_};
  return state_ == state::open;
}

std::future<base::result<cluster_facts>> doorkeeper::begin_asking() {
  auto promised = std::make_shared<std::promise<base::result<cluster_facts>>>();
  auto coming = promised->get_future();
  ask_then([promised](base::result<cluster_facts> said) { promised->set_value(std::move(said)); });
  return coming;
}

base::result<cluster_facts> doorkeeper::ask(base::duration patience) {
  auto coming = begin_asking();
  if (coming.wait_for(patience) == std::future_status::ready)
    return coming.get();
  client_->hang_up(last_id_);
  return error{code::unavailable,
               fmt::format("the API server at {} does not answer in time", called_.name),
               called_.if_silent};
}

void doorkeeper::open() {
  const std::lock_guard lock{mutex_};
  state_ = state::open;
}

void doorkeeper::open_when(approver approve, refusal refused) {
  approve_ = std::move(approve);
  refused_ = std::move(refused);
}

void doorkeeper::start(std::uint64_t id, protocol::http_request request, teller tell) {
  state was = state::open;
  {
    const std::lock_guard lock{mutex_};
    was = state_;
    if (was == state::closed || was == state::asking) {
      held_[id] = {std::move(request), std::move(tell)};
      state_ = state::asking;
    }
  }
  switch (was) {
  case state::closed:
    return ask_then([this](base::result<cluster_facts> said) { judge(std::move(said)); });
  case state::open:
    return forward(id, {std::move(request), std::move(tell)});
  case state::asking:
  case state::refused: // the process is about to end
    return;
  }
}

void doorkeeper::judge(base::result<cluster_facts> said) {
  base::result<void> how;
  if (!said)
    how = said.error();
  else
    how = approve_(*said);
  const bool is_for_good = !how && how.error().what() != code::unavailable;
  std::map<std::uint64_t, held> waiting;
  {
    const std::lock_guard lock{mutex_};
    waiting.swap(held_);
    state_ = how ? state::open : is_for_good ? state::refused : state::closed;
  }
  if (is_for_good)
    return refused_(how.error());
  for (auto& [id, x] : waiting)
    if (how)
      forward(id, std::move(x));
    else
      x.tell(protocol::event{protocol::answer_unknown{id, how.error().message()}});
}

void doorkeeper::forward(std::uint64_t id, held x) {
  client_->start(id, std::move(x.request), [this, tell = std::move(x.tell)](bridge::http_event e) {
    on_answer(e);
    std::visit([&tell](auto& y) { tell(protocol::event{std::move(y)}); }, e);
  });
}

void doorkeeper::hang_up(std::uint64_t id) {
  {
    const std::lock_guard lock{mutex_};
    if (held_.erase(id) > 0)
      return;
  }
  client_->hang_up(id);
}

} // namespace tutti::cli
