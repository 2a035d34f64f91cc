// The server's side of a bridge role in tests: what it was asked, and ways to answer.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "protocol/role.hpp"

namespace tutti::bridge {

/// Collects what a role asks for, in order; answers go back as events by the exchange's target.
struct effect_log {
  struct open_exchange {
    std::uint64_t id = 0;
    protocol::http_request request;
  };
  std::vector<open_exchange> open;
  std::vector<protocol::send> sent;
  std::vector<std::string> order; ///< "fault B0", "POST", "send bind_answer", …
  std::map<protocol::timer_id, base::duration> timers;
  std::vector<std::string> notes;
  int errors = 0;

  void take(const protocol::effects& effects) {
    for (const auto& e : effects.list())
      std::visit([this](const auto& x) { take_one(x); }, e);
  }

  /// The only open exchange.
  const open_exchange& only() const {
    EXPECT_EQ(open.size(), 1u);
    static const open_exchange none;
    return open.empty() ? none : open.front();
  }
  /// All messages of one kind sent so far, in order.
  template <class M>
  std::vector<M> all() const {
    std::vector<M> out;
    for (const auto& s : sent)
      if (const auto* m = std::get_if<M>(&s.what))
        out.push_back(*m);
    return out;
  }
  void close(std::uint64_t id) {
    std::erase_if(open, [id](const auto& x) { return x.id == id; });
  }

private:
  void take_one(const protocol::exchange& x) {
    order.push_back(x.request.method);
    open.push_back({x.id, x.request});
  }
  void take_one(const protocol::hang_up& x) {
    order.push_back("hang_up");
    close(x.id);
  }
  void take_one(const protocol::send& x) {
    order.push_back("send " + std::string{name_of(x.what)});
    sent.push_back(x);
  }
  void take_one(const protocol::arm& x) { timers[x.timer] = x.after; }
  void take_one(const protocol::disarm& x) { timers.erase(x.timer); }
  void take_one(const protocol::note& x) {
    notes.emplace_back(x.what);
    errors += x.is_error ? 1 : 0;
  }
  void take_one(const protocol::own&) { order.push_back("own"); }
  void take_one(const protocol::fault& x) { order.push_back("fault " + std::string{x.id}); }
  template <class Other>
  void take_one(const Other&) {
    ADD_FAILURE() << "an effect that no bridge role may ask for";
  }
};

} // namespace tutti::bridge
