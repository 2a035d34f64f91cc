// Reads the roles on behalf of people: asks them to describe themselves and waits for the answer.
#pragma once

#include <chrono>
#include <cstdint>
#include <future>
#include <map>
#include <mutex>
#include <string>

#include "actors/router.hpp"
#include "protocol/address.hpp"

namespace tutti::actors {

/// The asking end of `inspect` and of an operator's word: an `inspected` that reaches the admin
/// address is handed to whoever waits for its id. Thread-safe; `ask` blocks its caller, so it is
/// never called from an actor.
class admin_desk {
public:
  explicit admin_desk(router& routes) : routes_(routes) {}

  /// The role's JSON, or an empty string if it has no such object, is not there, or does not answer
  /// in time.
  std::string ask(const protocol::address& whom, std::string what, std::string name,
                  std::chrono::milliseconds patience);

  /// Asks the gang's partition to take back what is under way. {"done": …, "text": …} as JSON, or
  /// an empty string as above. The id of `what` is set here.
  std::string cancel(protocol::cancel_gang what, std::chrono::milliseconds patience);

  /// Called by the admin actor.
  void answer(std::uint64_t id, std::string json);

private:
  struct question {
    std::uint64_t id = 0;
    std::future<std::string> coming;
  };
  question begin();
  std::string wait(question q, std::chrono::milliseconds patience);

  router& routes_;
  std::mutex mutex_;
  std::uint64_t last_id_ = 0;
  std::map<std::uint64_t, std::promise<std::string>> waiting_;
};

} // namespace tutti::actors
