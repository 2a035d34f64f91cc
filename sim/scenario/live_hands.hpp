// What a story does to a live cluster by hand: creating, changing and ending objects, marked so
// that they can be told from those of others and taken away again.
#pragma once

#include <optional>
#include <string>

#include <boost/json/value.hpp>

#include "base/result.hpp"
#include "sim/scenario/cluster_copy.hpp"
#include "sim/scenario/live_door.hpp"

namespace tutti::sim::scenario {

/// On every object that a story has made.
inline constexpr const char* made_by_a_story = "tutti.dev/scenario";

/// What an error says if a request is refused.
using refusal = std::optional<std::string>;

class live_hands {
public:
  live_hands(live_door& door, api::release kubernetes) : door_(door), kinds_(kubernetes) {}

  refusal ask(const std::string& method, const std::string& target, const boost::json::value& body,
              const std::string& content_type = "application/json");
  /// Creates it; if it is there, makes it like this. What the server takes in a status only comes
  /// by a second request.
  refusal apply(boost::json::object x);
  /// The server says what it would say, and nothing comes into being.
  refusal try_to_apply(boost::json::object x);
  /// A pod goes at once if it is `at_once`, else when its grace is over.
  refusal remove(api_server::kind_id kind, const std::string& key, bool at_once = false);
  refusal merge(api_server::kind_id kind, const std::string& key, const std::string& subresource,
                const boost::json::value& changes);
  /// Path of an object; of a kind that the release does not have, one that is not there.
  std::string path(api_server::kind_id kind, const std::string& key,
                   const std::string& subresource = {}) const;

private:
  /// Where it is created; the refusal if no release has such a kind.
  std::optional<std::string> collection_of(const boost::json::object& x) const;

  live_door& door_;
  const api_server::catalog kinds_;
};

/// Objects that no story has made and that would get in the way, in words; nothing if there are
/// none: nodes, and pods that wait for this scheduler.
base::result<std::optional<std::string>> find_foreign(cluster_copy& copy,
                                                      const std::string& scheduler);

/// Ends everything that stories have made, and waits until it is gone. Nothing else is touched but
/// the Events about it. `unavailable` with what is left after `patience`.
struct sweep_options {
  api::release kubernetes = api::release::v1_37;
  base::duration patience{};
};
base::result<void> sweep(live_door& door, const sweep_options& how);

} // namespace tutti::sim::scenario
