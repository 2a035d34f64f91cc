// How the stage is set up, watched and disturbed.
#include "tests/actors/stage.hpp"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <future>
#include <mutex>
#include <set>

#include <fmt/core.h>
#include <unistd.h>

#include "bridge/http_client.hpp"
#include "persistence/rocks_store.hpp"

namespace tutti::actors::testing {

namespace fs = std::filesystem;

class gated_carrier final : public http_carrier {
public:
  explicit gated_carrier(sim::api_server::server& api)
      : client_(bridge::connect_by_descriptor([&api] { return api.connect(); }), {}) {}

  void start(std::uint64_t id, protocol::http_request request,
             std::function<void(protocol::event)> tell) override {
    {
      const std::lock_guard lock{mutex_};
      const bool is_binding = request.method == "POST" && request.target.ends_with("/binding");
      if ((is_closed_ && is_binding) || (keeps_lists_ && request.is_stream)) {
        auto& where = is_binding ? kept_ : lists_;
        where.push_back({id, std::move(request), std::move(tell)});
        return;
      }
    }
    pass(id, std::move(request), std::move(tell));
  }
  void hang_up(std::uint64_t id) override {
    {
      const std::lock_guard lock{mutex_};
      std::erase_if(kept_, [id](const auto& x) { return x.id == id; });
      std::erase_if(lists_, [id](const auto& x) { return x.id == id; });
    }
    client_.hang_up(id);
  }
  void close() {
    const std::lock_guard lock{mutex_};
    is_closed_ = true;
  }
  void open() {
    std::deque<one> all;
    {
      const std::lock_guard lock{mutex_};
      is_closed_ = false;
      all.swap(kept_);
    }
    for (auto& x : all)
      pass(x.id, std::move(x.request), std::move(x.tell));
  }
  std::size_t kept() {
    const std::lock_guard lock{mutex_};
    return kept_.size();
  }
  void keep_lists(bool yes) {
    std::deque<one> all;
    {
      const std::lock_guard lock{mutex_};
      keeps_lists_ = yes;
      if (!yes)
        all.swap(lists_);
    }
    for (auto& x : all)
      pass(x.id, std::move(x.request), std::move(x.tell));
  }
  std::size_t lists() {
    const std::lock_guard lock{mutex_};
    return lists_.size();
  }

private:
  struct one {
    std::uint64_t id;
    protocol::http_request request;
    std::function<void(protocol::event)> tell;
  };
  void pass(std::uint64_t id, protocol::http_request request,
            std::function<void(protocol::event)> tell) {
    client_.start(id, std::move(request), [tell = std::move(tell)](bridge::http_event e) {
      std::visit([&tell](auto& x) { tell(protocol::event{std::move(x)}); }, e);
    });
  }

  std::mutex mutex_;
  bool is_closed_ = false;
  std::deque<one> kept_;
  bool keeps_lists_ = false;
  std::deque<one> lists_;
  bridge::http_client client_;
};

struct stage::inside {
  options how;
  base::system_clock clock;
  fs::path home;
  std::unique_ptr<sim::api_server::server> api;
  std::unique_ptr<persistence::store> store;
  std::unique_ptr<gated_carrier> carrier;
  bool keeps_bindings = false;
  bool keeps_lists = false;
  std::map<protocol::address, caf::actor> tapped; ///< who was there before
  std::unique_ptr<caf::actor_system_config> config;
  std::unique_ptr<caf::actor_system> system; ///< of the taps
  std::vector<caf::actor> taps;

  std::mutex mutex;
  std::vector<base::error> failures;
};

stage::stage(options how) : in_(std::make_unique<inside>()) {
  in_->how = how;
  auto text = (fs::temp_directory_path() / "tutti-stage-XXXXXX").string();
  in_->home = ::mkdtemp(text.data());
  auto opened = sim::api_server::server::open({}, in_->clock);
  EXPECT_TRUE(opened) << opened.error().message();
  in_->api = std::move(*opened);
  in_->config = std::make_unique<caf::actor_system_config>();
  in_->config->set("scheduler.policy", caf::atom("sharing"));
  in_->config->set("scheduler.max-threads", 1u);
  in_->system = std::make_unique<caf::actor_system>(*in_->config);
}

stage::~stage() {
  stop();
  in_->tapped.clear();
  for (const auto& t : in_->taps)
    caf::anon_send_exit(t, caf::exit_reason::kill);
  in_->taps.clear();
  in_->system->await_all_actors_done();
  in_->api->stop();
  std::error_code ignored;
  fs::remove_all(in_->home, ignored);
}

// ---------------------------------------------------------------- the cluster

void stage::node(const std::string& name, int cpus, const std::string& rack) {
  auto text = fmt::format(
      R"({{"apiVersion": "v1", "kind": "Node",
           "metadata": {{"name": "{0}", "labels": {{"example.com/rack": "{2}"}}}},
           "status": {{"capacity": {{"cpu": "{1}", "memory": "64Gi", "pods": "110"}},
                      "allocatable": {{"cpu": "{1}", "memory": "64Gi", "pods": "110"}},
                      "conditions": [{{"type": "Ready", "status": "True"}}]}}}})",
      name, cpus, rack);
  const auto done = in_->api->apply({json::parse(text).as_object()});
  EXPECT_TRUE(done) << done.error().message();
}

void stage::priority_class(const std::string& name, int value) {
  const auto text = fmt::format(
      R"({{"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
           "metadata": {{"name": "{}"}}, "value": {}}})",
      name, value);
  const auto done = in_->api->apply({json::parse(text).as_object()});
  EXPECT_TRUE(done) << done.error().message();
}

void stage::gang(const std::string& name, int members, int cpus, const std::string& priority) {
  const auto text = fmt::format(
      R"({{"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup",
           "metadata": {{"name": "{}", "namespace": "default"}},
           "spec": {{"priorityClassName": "{}",
                    "schedulingPolicy": {{"gang": {{"minCount": {}}}}}}}}})",
      name, priority, members);
  auto group = json::parse(text).as_object();
  if (priority.empty())
    group.at("spec").as_object().erase("priorityClassName");
  const auto done = in_->api->apply({std::move(group)});
  EXPECT_TRUE(done) << done.error().message();
  for (int i = 0; i < members; ++i)
    member(name, i, cpus, priority);
}

void stage::member(const std::string& gang, int index, int cpus, const std::string& priority) {
  const auto text = fmt::format(
      R"({{"apiVersion": "v1", "kind": "Pod",
           "metadata": {{"name": "{0}-{1}", "namespace": "default"}},
           "spec": {{"schedulerName": "tutti", "priorityClassName": "{3}",
                    "schedulingGroup": {{"podGroupName": "{0}"}},
                    "containers": [{{"name": "main", "image": "work",
                      "resources": {{"requests": {{"cpu": "{2}"}}}}}}]}}}})",
      gang, index, cpus, priority);
  auto pod = json::parse(text).as_object();
  if (priority.empty())
    pod.at("spec").as_object().erase("priorityClassName");
  const auto done = in_->api->apply({std::move(pod)});
  EXPECT_TRUE(done) << done.error().message();
}

void stage::remove_gang(const std::string& name, int members) {
  for (int i = 0; i < members; ++i)
    EXPECT_EQ(ask_api({.method = "DELETE",
                       .target = fmt::format("/api/v1/namespaces/default/pods/{}-{}", name, i),
                       .body = R"({"gracePeriodSeconds":0})",
                       .content_type = "application/json"},
                      nullptr),
              200);
  const auto path = "/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups/" + name;
  EXPECT_EQ(ask_api({.method = "DELETE", .target = path, .body = {}, .content_type = {}}, nullptr),
            200);
  EXPECT_TRUE(eventually([&] { return get(path).empty(); }));
}

int stage::ask_api(protocol::http_request what, std::string* body) {
  bridge::http_client client{
      bridge::connect_by_descriptor([api = in_->api.get()] { return api->connect(); }), {}};
  std::promise<bridge::http_event> promise;
  auto coming = promise.get_future();
  client.start(1, std::move(what),
               [&promise](bridge::http_event e) { promise.set_value(std::move(e)); });
  auto event = coming.get();
  auto* page = std::get_if<protocol::answered>(&event);
  if (page != nullptr && body != nullptr)
    *body = std::move(page->body);
  return page != nullptr ? page->status : 0;
}

std::string stage::get(const std::string& path) {
  std::string body;
  const auto status =
      ask_api({.method = "GET", .target = path, .body = {}, .content_type = {}}, &body);
  return status == 200 ? body : std::string{};
}

std::map<std::string, std::string> stage::bound() {
  std::map<std::string, std::string> out;
  boost::system::error_code ec;
  const auto list = json::parse(get("/api/v1/pods"), ec);
  if (ec)
    return out;
  for (const auto& pod : list.at("items").as_array())
    if (const auto* where = pod.at("spec").as_object().if_contains("nodeName"))
      out[std::string{pod.at("metadata").at("name").as_string()}] = where->as_string();
  return out;
}

bool stage::is_bound(const std::string& gang, int members) {
  const auto all = bound();
  return std::count_if(all.begin(), all.end(),
                       [&](const auto& x) { return x.first.starts_with(gang + "-"); })
         == members;
}

// ---------------------------------------------------------------- the scheduler

base::result<void> stage::start() {
  auto opened = persistence::open_rocks_store({.path = (in_->home / "scheduler").string(),
                                               .shards = in_->how.shards,
                                               .cluster_uid = {},
                                               .env = in_->how.env,
                                               .reserve = in_->how.disk_reserve});
  if (!opened)
    return opened.error();
  in_->store = std::move(*opened);
  in_->carrier = std::make_unique<gated_carrier>(*in_->api);
  if (in_->keeps_bindings)
    in_->carrier->close();
  in_->carrier->keep_lists(in_->keeps_lists);
  scheduler_options o;
  o.shards = in_->how.shards;
  o.fast_path = in_->how.fast_path;
  auto begun = scheduler::start(o, *in_->store, in_->carrier.get(), in_->clock,
                                [in = in_.get()](const base::error& e) {
                                  const std::lock_guard lock{in->mutex};
                                  in->failures.push_back(e);
                                });
  if (!begun)
    return begun.error();
  scheduler_ = std::move(*begun);
  return {};
}

void stage::stop() {
  in_->keeps_bindings = false;
  in_->tapped.clear();
  if (scheduler_)
    scheduler_->stop();
  scheduler_.reset();
  in_->carrier.reset();
  in_->store.reset();
}

json::value stage::ask(const protocol::address& whom, const std::string& what,
                       const std::string& name) {
  boost::system::error_code ec;
  const auto text = scheduler_->desk().ask(whom, what, name, std::chrono::milliseconds{300});
  auto out = text.empty() ? json::value{} : json::parse(text, ec);
  return ec ? json::value{} : out;
}

bool stage::is_ready() {
  for (std::uint32_t s = 0; s < in_->how.shards; ++s) {
    const auto said = ask(protocol::to_shard({s}), "shards", {});
    if (!said.is_object() || !said.at("fresh").as_bool())
      return false;
  }
  return true;
}

std::string stage::word(const std::string& gang, const std::string& field) {
  const auto said = ask(protocol::to(protocol::role_kind::queue), "gang", "default/" + gang);
  const auto* o = said.if_object();
  const auto* x = o != nullptr ? o->if_contains(field) : nullptr;
  if (x == nullptr)
    return {};
  return x->is_string() ? std::string{x->as_string()} : json::serialize(*x);
}

std::string stage::all_words(const std::string& gang) {
  return json::serialize(ask(protocol::to(protocol::role_kind::queue), "gang", "default/" + gang));
}

std::string stage::uid(const std::string& gang) {
  const auto text = get("/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups/" + gang);
  boost::system::error_code ec;
  const auto found = json::parse(text, ec);
  return ec ? std::string{} : std::string{found.at("metadata").at("uid").as_string()};
}

base::node_uid stage::node_uid(const std::string& name) {
  boost::system::error_code ec;
  const auto found = json::parse(get("/api/v1/nodes/" + name), ec);
  return {ec ? std::string{} : std::string{found.at("metadata").at("uid").as_string()}};
}

std::uint64_t stage::noted(const std::string& what) {
  const auto all = scheduler_->notes().counts();
  const auto pos = all.find(what);
  return pos == all.end() ? 0 : pos->second;
}

std::uint64_t stage::noted_with(const std::string& what, const std::string& field,
                                const std::string& text) {
  const auto all = scheduler_->notes().with(field, text);
  return static_cast<std::uint64_t>(
      std::count_if(all.begin(), all.end(), [&](const auto& x) { return x.what == what; }));
}

std::size_t stage::failures() {
  const std::lock_guard lock{in_->mutex};
  return in_->failures.size();
}

base::error stage::failure() {
  const std::lock_guard lock{in_->mutex};
  return in_->failures.empty() ? base::error{} : in_->failures.front();
}

// ---------------------------------------------------------------- what happens to it

void stage::kill(const protocol::address& where) {
  const auto who = scheduler_->routes().find(where);
  ASSERT_TRUE(who) << protocol::to_text(where);
  caf::anon_send_exit(who, caf::exit_reason::kill);
}

void stage::keep_bindings() {
  in_->keeps_bindings = true;
  if (in_->carrier)
    in_->carrier->close();
}

void stage::let_bindings_go() {
  in_->keeps_bindings = false;
  if (in_->carrier)
    in_->carrier->open();
}

void stage::keep_lists() {
  in_->keeps_lists = true;
  if (in_->carrier)
    in_->carrier->keep_lists(true);
}

void stage::let_lists_go() {
  in_->keeps_lists = false;
  if (in_->carrier)
    in_->carrier->keep_lists(false);
}

std::size_t stage::lists_kept() {
  return in_->carrier->lists();
}

std::size_t stage::gangs_in_store() {
  auto opened = persistence::open_rocks_store({.path = (in_->home / "scheduler").string(),
                                               .shards = in_->how.shards,
                                               .cluster_uid = {},
                                               .env = in_->how.env,
                                               .reserve = in_->how.disk_reserve});
  EXPECT_TRUE(opened);
  std::set<std::string> gangs;
  for (const auto& d : (*opened)->take_remains().decisions)
    gangs.insert(d->by.gang.value);
  (*opened)->close();
  return gangs.size();
}

std::size_t stage::bindings_kept() {
  return in_->carrier->kept();
}

inbox_ptr stage::tap(const protocol::address& where,
                     std::function<bool(const protocol::message&)> may_pass) {
  auto heard = std::make_shared<inbox>();
  const auto real = scheduler_->routes().find(where);
  in_->tapped[where] = real;
  auto pass = [real, may_pass = std::move(may_pass)](const mail& m) {
    const auto* e = std::get_if<protocol::event>(m.get());
    const auto* r = e != nullptr ? std::get_if<protocol::received>(e) : nullptr;
    if (r == nullptr || may_pass(r->what))
      caf::anon_send(real, m);
  };
  in_->taps.push_back(in_->system->spawn(stand_in, heard, on_letter{std::move(pass)}));
  scheduler_->routes().put(where, in_->taps.back());
  return heard;
}

void stage::untap(const protocol::address& where) {
  scheduler_->routes().put(where, in_->tapped.at(where));
  in_->tapped.erase(where);
}

} // namespace tutti::actors::testing
