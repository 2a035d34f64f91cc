// The network between scheduler processes: encoded frames on their way, with delays of their own.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/random.hpp"
#include "base/time.hpp"
#include "sim/world/timeline.hpp"

namespace tutti::sim {

/// What becomes of one frame.
struct frame_verdict {
  std::uint32_t copies = 1; ///< 0 = it never arrives
  base::duration delay{};   ///< on top of the network's own, for all copies
};

/// Promises nothing: a frame may be lost, doubled, late, or overtake another. What is under way to
/// a process that is down is lost with it, as with its connection.
class network {
public:
  struct options {
    base::duration latency_least = std::chrono::microseconds{100};
    base::duration latency_most = std::chrono::milliseconds{2};
  };
  /// Takes a frame of `from` for itself.
  using ear = std::function<void(const std::string& from, std::string_view frame)>;
  using judge = std::function<frame_verdict(const std::string& from, const std::string& to,
                                            std::string_view frame)>;

  network(options how, timeline& time, base::random_stream& chance)
      : how_(how), time_(time), chance_(chance) {}

  /// The process `name` is up and listens; a new life hears nothing that was sent to the former
  /// one.
  void listens(const std::string& name, ear hears);
  void is_down(const std::string& name);
  void carry(const std::string& from, const std::string& to, std::string frame);

  void judges(judge x) { judge_ = std::move(x); }
  /// While cut, no frame of `from` reaches `to`; the other direction is a cut of its own.
  void cut(const std::string& from, const std::string& to, bool is_cut);

  std::uint64_t carried() const { return carried_; }
  std::size_t under_way() const { return under_way_; }

private:
  struct place {
    std::uint64_t life = 0;
    ear hears; ///< empty: down
  };
  void arrive(const std::string& from, const std::string& to, std::uint64_t life,
              const std::string& frame);

  options how_;
  timeline& time_;
  base::random_stream& chance_;
  judge judge_;
  std::map<std::string, place> places_;
  std::set<std::pair<std::string, std::string>> cuts_;
  std::uint64_t carried_ = 0;
  std::size_t under_way_ = 0;
};

} // namespace tutti::sim
