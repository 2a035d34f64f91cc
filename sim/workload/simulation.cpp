#include "sim/workload/simulation.hpp"

#include <boost/json.hpp>

#include "base/ensure.hpp"
#include "protocol/address.hpp"

namespace tutti::sim::workload {

namespace {

using namespace std::chrono_literals;

/// A healthy scheduler knows its nodes long before, even if there are a hundred thousand.
constexpr auto start_patience = 10min;
/// How often whoever waits for the nodes is told.
constexpr std::uint32_t told_every = 1'000;
/// Changes that the API server remembers for watches: they are told at once, and the memory is
/// better spent on larger clusters.
constexpr std::size_t history_events = 20'000;
constexpr std::size_t history_bytes = 64u << 20;

world::options options_for(const simulation::options& how) {
  world::options out;
  out.seed = how.seed;
  out.scheduler.seed = how.seed;
  out.scheduler.shards = how.shards;
  out.scheduler.levels = label_keys(how.shape);
  out.scheduler.writes_pod_events = false;
  out.api.plane.seed = how.seed;
  out.api.plane.keeps.events_max = history_events;
  out.api.plane.keeps.bytes_max = history_bytes;
  return out;
}

} // namespace

simulation::simulation(options how, std::vector<arrival> arrivals)
    : how_(std::move(how)), arrivals_(std::move(arrivals)),
      world_(std::make_unique<world>(options_for(how_))) {}

simulation::~simulation() {
  world_.reset(); // it speaks to the others to its end
}

void simulation::begin(const std::function<void(std::uint32_t nodes)>& told) {
  for (std::uint32_t node = 0; node < how_.shape.nodes; ++node) {
    const auto answer =
        world_->api().ask({.method = "POST",
                           .target = "/api/v1/nodes",
                           .body = boost::json::serialize(node_object(how_.shape, node))});
    ensure(answer.status == 201, answer.status, answer.body);
    if (told && (node + 1) % told_every == 0)
      told(node + 1);
  }
  world_->start();
  auto& scheduler = world_->at(0);
  const auto deadline = world_->time().now() + start_patience;
  auto looks_again = world_->time().now();
  const bool is_ready = world_->run_until(deadline, [&] {
    if (world_->time().now() < looks_again)
      return false;
    looks_again = world_->time().now() + 100ms;
    const auto said = scheduler.inspect(protocol::to(protocol::role_kind::queue), "quiet", {});
    return said.find(R"("quiet":true)") != std::string::npos;
  });
  ensure(is_ready, how_.shape.nodes);
  zero_ = world_->time().now();
  book_ = std::make_unique<gang_book>(*world_, how_.shape, std::move(arrivals_));
  world_->add(*book_);
  source::options wishes{.begins = zero_};
  if (!how_.together.empty()) {
    const auto level = how_.shape.level_named(how_.together);
    wishes.together_key = label_key(how_.together);
    wishes.together_nodes = how_.shape.nodes_per(level);
  }
  users_ = std::make_unique<source>(*world_, *book_, how_.shape, std::move(wishes));
  users_->begin();
}

bool simulation::advance() {
  if (how_.until && elapsed() >= *how_.until)
    return false;
  if (is_drained())
    return false;
  auto to = world_->time().now() + how_.sample_every;
  if (how_.until)
    to = std::min(to, zero_ + *how_.until);
  world_->run_until(to, {});
  return true;
}

std::string simulation::ask_queue(const std::string& what) const {
  return world_->at(0).inspect(protocol::to(protocol::role_kind::queue), what, {});
}

base::duration simulation::elapsed() const {
  return world_->time().now() - zero_;
}

bool simulation::is_drained() const {
  if (!users_->is_idle() || book_->in(gang_state::running).gangs > 0)
    return false;
  // Whoever waits now has an empty cluster before it: after so long it will not start.
  constexpr base::duration patience = 10min;
  if (book_->in(gang_state::waiting).gangs == 0)
    return true;
  const auto& gangs = book_->gangs();
  base::time_point last = zero_ + gangs.back().what.at;
  for (const auto& x : gangs)
    if (x.ended_at)
      last = std::max(last, *x.ended_at);
  return world_->time().now() - last > patience;
}

} // namespace tutti::sim::workload
