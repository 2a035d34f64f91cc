#include "cli/scheduler_pods.hpp"

#include <memory>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include <boost/json.hpp>
#include <fmt/core.h>

#include "bridge/http_text.hpp"
#include "bridge/json_read.hpp"
#include "cli/api_questions.hpp"
#include "cli/output.hpp"
#include "cli/together.hpp"

namespace tutti::cli {

namespace {

namespace json = boost::json;
using base::code;
using base::error;

constexpr const char* selector =
    "app.kubernetes.io%2Fname%3Dtutti%2Capp.kubernetes.io%2Fcomponent%3Dscheduler";
constexpr std::string_view port_name = "admin";

struct replica_pod {
  std::string name;
  std::int64_t port = 0;
};

/// The port that a container calls "admin"; 0 if none does.
std::int64_t admin_port(const json::object& pod) {
  const auto* spec = bridge::object_at(pod, "spec");
  const auto* containers = spec != nullptr ? bridge::array_at(*spec, "containers") : nullptr;
  if (containers == nullptr)
    return 0;
  for (const auto& c : *containers) {
    const auto* ports = c.is_object() ? bridge::array_at(c.get_object(), "ports") : nullptr;
    if (ports == nullptr)
      continue;
    for (const auto& p : *ports)
      if (p.is_object() && bridge::text_at(p.get_object(), "name") == port_name)
        return p.get_object().at("containerPort").to_number<std::int64_t>();
  }
  return 0;
}

bool is_running(const json::object& pod) {
  const auto* status = bridge::object_at(pod, "status");
  const auto* meta = bridge::object_at(pod, "metadata");
  return status != nullptr && bridge::text_at(*status, "phase") == "Running" && meta != nullptr
         && !meta->contains("deletionTimestamp");
}

/// The pods, looked for once, and the way to them.
class pods_behind {
public:
  pods_behind(scheduler_flags where, const base::clock& clock)
      : where_(std::move(where)), clock_(clock) {
    if (where_.space.empty())
      where_.space = default_scheduler_space;
  }

  base::result<json::object> read(const std::string& path) {
    if (auto ok = look(); !ok)
      return ok.error();
    const auto how = togetherness_of(path);
    std::vector<json::object> answers;
    std::optional<error> refused;
    for (const auto& pod : pods_) {
      auto said = ask("GET", pod, path);
      if (said)
        answers.push_back(std::move(*said));
      else if (said.error().what() == code::forbidden)
        return said.error();
      else if (!refused || refused->what() == code::unavailable)
        refused = said.error(); // "there is no such gang" says more than silence
      if (how == togetherness::anyone && !answers.empty())
        break;
    }
    if (answers.empty()) {
      pods_.clear(); // others may run in their place when we are asked again
      return *refused;
    }
    if (refused && refused->what() == code::unavailable
        && warned_.insert(refused->message()).second)
      print_warning(*refused);
    return together(how, std::move(answers));
  }

  base::result<json::object> change(const std::string& path) {
    if (auto ok = look(); !ok)
      return ok.error();
    const auto verb = path.rfind('/', path.find('?'));
    const auto gang = path.substr(0, verb);
    std::optional<error> refused;
    for (const auto& pod : pods_) {
      const auto known = ask("GET", pod, gang);
      if (known && !is_elsewhere(*known))
        return ask("POST", pod, path);
      if (!known)
        refused = known.error();
    }
    return refused ? *refused
                   : error{code::unavailable, "no replica that answers places this gang now",
                           "another one may be taking it over: try again in some seconds"};
  }

private:
  base::result<void> look() {
    if (!pods_.empty())
      return {};
    if (!ask_) {
      auto opened = api_questions::open(where_.cluster, clock_);
      if (!opened)
        return opened.error();
      ask_ = std::make_unique<api_questions>(std::move(*opened));
    }
    const auto list = ask_->get(
        fmt::format("/api/v1/namespaces/{}/pods?labelSelector={}",
                    bridge::escaped_query(where_.space), selector),
        "this needs the rights to list pods and to get pods/proxy in the scheduler's namespace");
    if (!list)
      return list.error();
    if (const auto* items = bridge::array_at(*list, "items"))
      for (const auto& x : *items)
        if (x.is_object() && is_running(x.get_object()))
          take(x.get_object());
    if (!pods_.empty())
      return {};
    return error{code::not_found,
                 where_.pod.empty()
                     ? fmt::format("no pod of a scheduler runs in namespace {}", where_.space)
                     : fmt::format("no pod {} of a scheduler runs in namespace {}", where_.pod,
                                   where_.space),
                 "name the namespace that it is installed in with --scheduler-namespace"};
  }

  void take(const json::object& pod) {
    const auto* meta = bridge::object_at(pod, "metadata");
    std::string name{bridge::text_at(*meta, "name")};
    const auto port = admin_port(pod);
    if (port != 0 && (where_.pod.empty() || where_.pod == name))
      pods_.push_back({std::move(name), port});
  }

  base::result<json::object> ask(const char* method, const replica_pod& pod,
                                 const std::string& path) {
    const auto said = ask_->ask(method, fmt::format("/api/v1/namespaces/{}/pods/{}:{}/proxy{}",
                                                    bridge::escaped_query(where_.space), pod.name,
                                                    pod.port, path));
    if (!said)
      return said.error();
    boost::system::error_code ec;
    auto parsed = json::parse(said->body, ec);
    const bool is_object = !ec && parsed.is_object();
    if (said->status == 200 && is_object)
      return std::move(parsed.as_object());
    // The API server's own refusals are Status objects, the scheduler's are not.
    const bool is_of_the_server =
        !is_object || bridge::text_at(parsed.get_object(), "kind") == "Status";
    const auto message =
        is_object ? std::string{bridge::text_at(parsed.get_object(), "message")} : said->body;
    if (is_of_the_server && said->status == 403)
      return error{code::forbidden, message,
                   fmt::format("this needs the right to {} pods/proxy in namespace {}",
                               method == std::string_view{"GET"} ? "get" : "create", where_.space)};
    if (is_of_the_server)
      return error{code::unavailable,
                   fmt::format("{}: no way to pod {}: {}", ask_->name(), pod.name, message),
                   "look at the pod, and whether a NetworkPolicy lets the API server in; kubectl "
                   "port-forward is another way"};
    const auto what = said->status == 404   ? code::not_found
                      : said->status == 409 ? code::conflict
                      : said->status == 400 ? code::bad_input
                                            : code::unavailable;
    return error{what, message};
  }

  scheduler_flags where_;
  const base::clock& clock_;
  std::unique_ptr<api_questions> ask_;
  std::vector<replica_pod> pods_;
  std::set<std::string> warned_; // of the same thing once, however often we are asked
};

} // namespace

reader scheduler_behind(const scheduler_flags& where, const base::clock& clock) {
  return [pods = std::make_shared<pods_behind>(where, clock)](const std::string& path) {
    return pods->read(path);
  };
}

reader scheduler_behind_to_change(const scheduler_flags& where, const base::clock& clock) {
  return [pods = std::make_shared<pods_behind>(where, clock)](const std::string& path) {
    return pods->change(path);
  };
}

} // namespace tutti::cli
