#include "chaos/decision_reading.hpp"

#include <utility>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "base/ensure.hpp"
#include "bridge/decision_objects.hpp"
#include "persistence/format.hpp"
#include "protocol/records_codec.hpp"

namespace tutti::chaos {

std::string name_of(const protocol::decision& x) {
  return fmt::format("decision {} of {}", x.by.ordinal, protocol::to_text(x.gang_name));
}

protocol::decision decision_in(const std::string& key, const std::string& value) {
  const auto framed = persistence::open_frame(persistence::family::decisions, key, value);
  const auto slot = persistence::read_decision_key(key);
  ensure(slot.has_value() && framed.has_value(), key.size());
  auto read = protocol::decode_decision(framed->payload);
  ensure(read.has_value() && *slot == base::slot_of(read->by), slot->gang.value, slot->ordinal);
  return std::move(*read);
}

std::optional<protocol::decision> decision_in(const sim::api_server::object& x) {
  const auto object = bridge::read_decision_object(sim::api_server::draft{x.body}.doc());
  ensure(object.has_value() && object->chunks.empty(), x.key);
  if (object->ordinal == 0)
    return std::nullopt;
  auto read = bridge::decision_of(*object, object->record);
  ensure(read.has_value(), x.key);
  return std::move(*read);
}

void decision_objects_reader::follow(const sim::api_server::store& objects, const heard& hear) {
  using sim::api_server::kind_id;
  for (; seen_ < objects.end_event(kind_id::gang_decisions); ++seen_) {
    const auto& e = objects.event_at(kind_id::gang_decisions, seen_);
    if (auto read = decision_in(*e.now))
      hear(std::move(*read), e.what == sim::api_server::change::deleted);
  }
}

} // namespace tutti::chaos
