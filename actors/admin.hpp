// Reads the roles on behalf of people: asks them to describe themselves and waits for the answer.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <map>
#include <mutex>
#include <string>

#include "actors/router.hpp"
#include "protocol/address.hpp"
#include "protocol/role.hpp"

namespace tutti::actors {

/// Takes the answers of roles to `inspect` and to an operator's word. Thread-safe.
using answer_taker = std::function<void(std::uint64_t id, std::string json)>;

/// The role at the admin address: an answer that reaches it is handed to people. It remembers
/// nothing, so whoever waits for an answer that died with it loses patience, and asks again.
class admin_role final : public protocol::role {
public:
  explicit admin_role(answer_taker take) : take_(std::move(take)) {}
  protocol::effects on(const protocol::event& e, base::time_point now) override;

private:
  answer_taker take_;
};

/// The asking end of `inspect` and of an operator's word: an answer is handed to whoever waits for
/// its id. Thread-safe; `ask` blocks its caller, so it is never called from an actor.
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

  /// Called by the admin role.
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
