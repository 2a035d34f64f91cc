// Questions to the roles of a scheduler, for whoever shows their answers to people.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <boost/json/value.hpp>

#include "actors/scheduler.hpp"
#include "protocol/address.hpp"

namespace tutti::actors {

/// A role that is alive answers in microseconds; one that works through a long mailbox, in less
/// than this.
inline constexpr std::chrono::milliseconds answer_patience{2000};

/// The role's answer as JSON; null if it gave none.
boost::json::value ask(scheduler& who, const protocol::address& whom, const char* what,
                       std::string name = {});

/// What the keeper says of the replicas; null where there is none.
boost::json::value keeper_word(scheduler& who);

/// All shards, or those that run here if there are other replicas; nothing if the keeper, who
/// knows, does not answer.
std::optional<std::vector<std::uint32_t>> shards_here(scheduler& who);

} // namespace tutti::actors
