// Delivers messages between roles and carries out the few effects that a plan needs.
#include "cli/role_host.hpp"

#include <type_traits>
#include <utility>

#include "base/ensure.hpp"

namespace tutti::cli {

namespace {

protocol::started first_event() {
  return {.epoch = {1}, .incarnation = {1}, .seed = 1};
}

} // namespace

void role_host::add(const protocol::address& where, protocol::role_ptr who) {
  ensure(who != nullptr, protocol::to_text(where));
  roles_[where] = std::move(who);
}

void role_host::start() {
  std::vector<protocol::address> all;
  for (const auto& [where, who] : roles_)
    all.push_back(where);
  for (const auto& where : all)
    letters_.push_back({where, first_event()});
}

void role_host::send(const protocol::address& from, const protocol::address& to,
                     protocol::message what) {
  if (!intercept_(from, to, what))
    letters_.push_back({to, protocol::received{from, std::move(what)}});
}

void role_host::run() {
  while (!letters_.empty()) {
    auto next = std::move(letters_.front());
    letters_.pop_front();
    auto pos = roles_.find(next.to);
    if (pos != roles_.end())
      perform(next.to, pos->second->on(next.what, now_));
  }
}

void role_host::perform(const protocol::address& who, protocol::effects asked) {
  for (auto& e : asked.list())
    std::visit(
        [&](auto& x) {
          using kind = std::decay_t<decltype(x)>;
          if constexpr (std::is_same_v<kind, protocol::send>) {
            send(who, x.to, std::move(x.what));
          } else if constexpr (std::is_same_v<kind, protocol::host>) {
            if (roles_.contains(x.where))
              return;
            add(x.where, make_(x.where));
            letters_.push_back({x.where, first_event()});
          } else if constexpr (std::is_same_v<kind, protocol::exchange>) {
            letters_.push_back({who, serve_(x)});
          } else if constexpr (std::is_same_v<kind, protocol::retire>) {
            roles_.erase(who);
          }
        },
        e);
}

} // namespace tutti::cli
