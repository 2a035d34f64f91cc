#include "chaos/shrink.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

namespace tutti::chaos {

namespace {

class shrinking {
public:
  shrinking(const schedule& failing, const std::function<bool(const schedule&)>& breaks,
            std::size_t runs_most)
      : breaks_(breaks), runs_left_(runs_most), least_(failing) {}

  shrink_result done() {
    for (bool has_shrunk = true; has_shrunk && runs_left_ > 0;) {
      has_shrunk = take_out_kinds();
      has_shrunk |= take_out_actions();
      has_shrunk |= lessen_values();
    }
    return {std::move(least_), runs_};
  }

private:
  bool accept(schedule smaller) {
    if (runs_left_ == 0 || smaller == least_)
      return false;
    --runs_left_;
    ++runs_;
    if (!breaks_(smaller))
      return false;
    least_ = std::move(smaller);
    return true;
  }

  bool take_out_kinds() {
    std::set<std::string> kinds;
    for (const auto& a : least_.actions)
      kinds.insert(a.what);
    bool has_shrunk = false;
    for (const auto& kind : kinds) {
      auto smaller = least_;
      std::erase_if(smaller.actions, [&](const auto& a) { return a.what == kind; });
      has_shrunk |= accept(std::move(smaller));
    }
    return has_shrunk;
  }

  /// Delta debugging: halves, then quarters, …, then single ones.
  bool take_out_actions() {
    bool has_shrunk = false;
    for (auto chunk = std::max<std::size_t>(least_.actions.size() / 2, 1); chunk > 0; chunk /= 2)
      for (std::size_t from = 0; from < least_.actions.size();) {
        auto smaller = least_;
        const auto to = std::min(from + chunk, smaller.actions.size());
        smaller.actions.erase(smaller.actions.begin() + static_cast<std::ptrdiff_t>(from),
                              smaller.actions.begin() + static_cast<std::ptrdiff_t>(to));
        if (accept(std::move(smaller)))
          has_shrunk = true;
        else
          from += chunk;
      }
    return has_shrunk;
  }

  bool lessen_values() {
    bool has_shrunk = lessen_world();
    for (std::size_t n = 0; n < least_.actions.size(); ++n)
      for (const char* key : {"members", "min", "cpu", "kept", "nth", "pass"}) {
        const auto value = number(least_.actions[n], key);
        for (const auto less : {std::int64_t{1}, value / 2, value - 1}) {
          if (less < 1 || less >= value)
            continue;
          auto smaller = least_;
          smaller.actions[n].with[key] = std::to_string(less);
          if (accept(std::move(smaller))) {
            has_shrunk = true;
            break;
          }
        }
      }
    return has_shrunk;
  }

  bool lessen_world() {
    bool has_shrunk = false;
    if (least_.shards > 1) {
      auto smaller = least_;
      smaller.shards = 1;
      has_shrunk |= accept(std::move(smaller));
    }
    // No earlier end for what fails only at the end: the quiet time stays.
    const auto last = least_.actions.empty() ? base::duration{} : least_.actions.back().at;
    auto smaller = least_;
    const auto quiet = smaller.until - smaller.faults_until;
    smaller.faults_until = std::min(smaller.faults_until, last + std::chrono::seconds{1});
    smaller.until = smaller.faults_until + quiet;
    has_shrunk |= accept(std::move(smaller));
    return has_shrunk;
  }

  const std::function<bool(const schedule&)>& breaks_;
  std::size_t runs_left_;
  std::size_t runs_ = 0;
  schedule least_;
};

} // namespace

shrink_result shrink(const schedule& failing, const std::function<bool(const schedule&)>& breaks,
                     std::size_t runs_most) {
  return shrinking{failing, breaks, runs_most}.done();
}

} // namespace tutti::chaos
