// Each copy of a frame takes its own time.
#include "sim/world/network.hpp"

#include "sim/world/dice.hpp"

namespace tutti::sim {

void network::listens(const std::string& name, ear hears) {
  auto& p = places_[name];
  ++p.life;
  p.hears = std::move(hears);
}

void network::is_down(const std::string& name) {
  places_[name].hears = {};
}

void network::cut(const std::string& from, const std::string& to, bool is_cut) {
  if (is_cut)
    cuts_.emplace(from, to);
  else
    cuts_.erase({from, to});
}

void network::carry(const std::string& from, const std::string& to, std::string frame) {
  const auto pos = places_.find(to);
  if (pos == places_.end() || !pos->second.hears || cuts_.contains({from, to}))
    return;
  const auto becomes = judge_ ? judge_(from, to, frame) : frame_verdict{};
  for (std::uint32_t n = 0; n < becomes.copies; ++n) {
    ++under_way_;
    const auto takes = draw(chance_, how_.latency_least, how_.latency_most) + becomes.delay;
    time_.after(takes, [this, from, to, life = pos->second.life, frame] {
      --under_way_;
      arrive(from, to, life, frame);
    });
  }
}

void network::arrive(const std::string& from, const std::string& to, std::uint64_t life,
                     const std::string& frame) {
  const auto& p = places_[to];
  if (!p.hears || p.life != life || cuts_.contains({from, to}))
    return;
  ++carried_;
  p.hears(from, frame);
}

} // namespace tutti::sim
