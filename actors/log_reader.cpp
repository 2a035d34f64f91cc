// One question to the log per list; it is repeated until it is answered.
#include "actors/log_reader.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include <caf/all.hpp>

#include "actors/log_words.hpp"
#include "actors/mail.hpp"
#include "base/ensure.hpp"
#include "protocol/decision_rules.hpp"
#include "protocol/sharding.hpp"

namespace tutti::actors {

namespace {

using wish = std::shared_ptr<log_reader::then>;

struct reader_state {
  std::map<std::uint64_t, wish> open;
  std::uint64_t last = 0;
};

const protocol::address at{protocol::role_kind::decisions, 1, {}};

} // namespace

} // namespace tutti::actors

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(tutti::actors::wish);

namespace tutti::actors {

namespace {

caf::behavior reader(caf::stateful_actor<reader_state>* self, services* around) {
  self->set_default_handler(caf::drop);
  auto ask = [self, around](std::uint64_t id) {
    around->routes.send(at, protocol::to(protocol::role_kind::decisions),
                        protocol::slots_wanted{id});
    self->delayed_send(self, log_resend, id);
  };
  return {[self, ask](const wish& what) {
            const auto id = ++self->state.last;
            self->state.open.emplace(id, what);
            ask(id);
          },
          [self, ask](std::uint64_t id) {
            if (self->state.open.contains(id))
              ask(id);
          },
          [self](const mail& m) {
            auto* e = std::get_if<protocol::event>(m.get());
            auto* heard = e != nullptr ? std::get_if<protocol::received>(e) : nullptr;
            auto* told =
                heard != nullptr ? std::get_if<protocol::slots_told>(&heard->what) : nullptr;
            if (told == nullptr)
              return;
            auto pos = self->state.open.find(told->id);
            if (pos == self->state.open.end())
              return; // a second copy
            std::vector<protocol::decision_ptr> all;
            for (auto& d : told->all)
              all.push_back(std::make_shared<const protocol::decision>(std::move(d)));
            const auto what = pos->second;
            self->state.open.erase(pos);
            (*what)(std::move(all));
          }};
}

} // namespace

log_reader::log_reader(services& around, caf::actor_system& system)
    : who_(system.spawn(reader, &around)) {
  around.routes.put(at, who_);
}

void log_reader::list(then what) {
  caf::anon_send(who_, std::make_shared<then>(std::move(what)));
}

bool begins_with_log(const protocol::address& where) {
  return where.kind == protocol::role_kind::shard || where.kind == protocol::role_kind::partition;
}

void add_log(const protocol::address& where, const std::vector<protocol::decision_ptr>& all,
             persistence::recovered_role& left) {
  ensure(begins_with_log(where), protocol::to_text(where));
  left.decisions.clear();
  for (const auto& d : all) {
    if (where.kind == protocol::role_kind::shard) {
      const auto& slices = d->chosen.slices;
      const bool is_named =
          std::any_of(slices.begin(), slices.end(),
                      [&](const protocol::slice& s) { return s.shard.value == where.index; });
      if (is_named && !protocol::is_finished(*d))
        left.decisions.push_back(d);
    } else if (protocol::partition_of(d->by.gang).value == where.index) {
      left.decisions.push_back(d);
      left.epoch = std::max({left.epoch, d->by.epoch, d->adopted_by});
    }
  }
  std::sort(left.decisions.begin(), left.decisions.end(), [](const auto& a, const auto& b) {
    return base::slot_of(a->by) < base::slot_of(b->by);
  });
}

} // namespace tutti::actors
