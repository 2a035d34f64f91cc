// Assembled as cli/local.cpp does it, without files, signals and the admin address.
#include "bench/embedded.hpp"

#include <cstdlib>
#include <future>

#include <fmt/core.h>
#include <unistd.h>

#include "bridge/http_client.hpp"
#include "persistence/rocks_store.hpp"

namespace tutti::bench {

namespace fs = std::filesystem;
namespace json = boost::json;

void fail(const std::string& what) {
  std::fflush(stdout);
  fmt::print(stderr, "bench: error: {}\n", what);
  std::_Exit(1);
}

/// Hands the bridge's HTTP client to the actors, and asks for itself.
class embedded::carrier final : public actors::http_carrier {
public:
  explicit carrier(sim::api_server::server& api)
      : client_(bridge::connect_by_descriptor([&api] { return api.connect(); }), {}) {}

  void start(std::uint64_t id, protocol::http_request request,
             std::function<void(protocol::event)> tell) override {
    client_.start(id, std::move(request), [tell = std::move(tell)](bridge::http_event e) {
      std::visit([&tell](auto& x) { tell(protocol::event{std::move(x)}); }, e);
    });
  }
  void hang_up(std::uint64_t id) override { client_.hang_up(id); }

private:
  bridge::http_client client_;
};

fs::path temporary_directory() {
  auto text = (fs::temp_directory_path() / "tutti-bench-XXXXXX").string();
  if (::mkdtemp(text.data()) == nullptr)
    fail("cannot make a temporary directory; set TMPDIR to one that may be written to");
  return text;
}

embedded::embedded(const options& how) : how_(how), home_(temporary_directory()) {
  sim::api_server::server::options o;
  o.data_dir = (home_ / "api").string();
  if (!how_.listen.empty())
    o.listen = sim::api_server::listen_address{how_.listen, 0};
  auto opened = sim::api_server::server::open(o, clock_);
  if (!opened)
    fail(opened.error().message());
  api_ = std::move(*opened);
}

embedded::~embedded() {
  stop_scheduler();
  api_->stop();
  std::error_code ignored;
  fs::remove_all(home_, ignored);
}

void embedded::apply(objects what) {
  if (auto done = api_->apply(std::move(what)); !done)
    fail(done.error().message());
}

void embedded::start_scheduler() {
  auto opened = persistence::open_rocks_store(
      {.path = (home_ / "scheduler").string(), .shards = how_.shards});
  if (!opened)
    fail(opened.error().message());
  store_ = std::move(*opened);
  carrier_ = std::make_unique<carrier>(*api_);
  actors::scheduler_options o;
  o.shards = how_.shards;
  auto begun = actors::scheduler::start(o, *store_, carrier_.get(), clock_,
                                        [](const base::error& e) { fail(e.message()); });
  if (!begun)
    fail(begun.error().message());
  scheduler_ = std::move(*begun);
}

void embedded::stop_scheduler() {
  if (scheduler_)
    scheduler_->stop();
  scheduler_.reset();
  carrier_.reset();
  store_.reset();
}

json::array embedded::list(const std::string& path) {
  bridge::http_client client{bridge::connect_by_descriptor([this] { return api_->connect(); }), {}};
  json::array out;
  std::string next;
  for (std::uint64_t id = 1;; ++id) {
    std::promise<bridge::http_event> promise;
    auto answer = promise.get_future();
    protocol::http_request ask{.method = "GET", .target = path + "?limit=500" + next};
    client.start(id, std::move(ask),
                 [&promise](bridge::http_event e) { promise.set_value(std::move(e)); });
    const auto event = answer.get();
    const auto* page = std::get_if<protocol::answered>(&event);
    if (page == nullptr || page->status != 200)
      fail("the API server does not answer GET " + path);
    auto body = json::parse(page->body).as_object();
    for (auto& x : body.at("items").as_array())
      out.push_back(std::move(x));
    const auto* more = body.at("metadata").as_object().if_contains("continue");
    if (more == nullptr || more->as_string().empty())
      return out;
    next = fmt::format("&continue={}", std::string_view{more->as_string()});
  }
}

} // namespace tutti::bench
