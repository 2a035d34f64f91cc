// An actor that keeps what it gets, and may answer: stands where a role would.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include <caf/all.hpp>

#include "actors/mail.hpp"
#include "protocol/messages.hpp"

namespace tutti::actors::testing {

/// What an actor was sent, in order. Thread-safe.
class inbox {
public:
  void take(const letter& x) {
    const std::lock_guard lock{mutex_};
    letters_.push_back(x);
  }
  std::size_t size() const {
    const std::lock_guard lock{mutex_};
    return letters_.size();
  }
  /// All messages of one kind among them.
  template <class M>
  std::vector<M> all() const {
    std::vector<M> out;
    const std::lock_guard lock{mutex_};
    for (const auto& x : letters_)
      if (const auto* e = std::get_if<protocol::event>(&x))
        if (const auto* r = std::get_if<protocol::received>(e))
          if (const auto* m = std::get_if<M>(&r->what))
            out.push_back(*m);
    return out;
  }
  template <class M>
  std::size_t count() const {
    return all<M>().size();
  }

private:
  mutable std::mutex mutex_;
  std::vector<letter> letters_;
};
using inbox_ptr = std::shared_ptr<inbox>;

/// Called for each letter, after it was kept, on the actor's thread.
using on_letter = std::function<void(const mail&)>;

inline caf::behavior stand_in(caf::event_based_actor*, inbox_ptr into, on_letter then) {
  return {[into, then](const mail& m) {
    into->take(*m);
    if (then)
      then(m);
  }};
}

} // namespace tutti::actors::testing
