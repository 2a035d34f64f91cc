// The decision log's API objects as values, and the requests about them
// (docs/reference/objects.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>

#include "base/result.hpp"
#include "protocol/decision.hpp"
#include "protocol/http.hpp"

namespace tutti::bridge {

/// Stands on a GangDecision while its decision is unfinished, as a finalizer and as a label:
/// whoever looks for unfinished ones need not read all.
inline constexpr std::string_view unfinished_mark = "tutti.dev/unfinished";

/// What one GangDecision says. The decision's own bytes never change while its slot stands (S2);
/// what grows stands beside them.
struct decision_object {
  boost::json::object metadata; ///< as it came: what others wrote there stays
  std::uint64_t ordinal = 0;    ///< of the slot that stands here; 0 = none yet
  std::string gang;             ///< name of the root
  std::string attempt;          ///< who decided, for people
  std::string verdict;          ///< "Committed" or "Aborted", for people
  std::string record;           ///< bytes of the decision; empty if they are in chunks
  std::vector<std::string> chunks;
  std::vector<base::pod_uid> cancelled;
  base::epoch_no adopted_by;
  bool is_done = false;

  std::string_view space() const;
  std::string_view name() const;
  std::string_view uid() const;
  std::string_view resource_version() const;
};

/// The name of the gang's object: "gang-" and the uid of its root, or a hash where that uid is no
/// part of a name (1.35).
std::string decision_name(const base::gang_uid& gang);

/// `corrupt`, with the object's name, if it is not what we write.
base::result<decision_object> read_decision_object(const boost::json::object& x);

/// The decision as it stands: `bytes` are the record, or the chunks one after the other. `corrupt`
/// if they do not belong to this object. The object has an ordinal.
base::result<protocol::decision> decision_of(const decision_object& x, std::string_view bytes);

/// The object that says `what`. Keeps the metadata; sets or takes off the mark. With `chunks`
/// the bytes are there; a done decision has neither plan nor chunks.
void put_decision(decision_object& x, const protocol::decision& what,
                  std::vector<std::string> chunks);

/// Who owns new objects of a gang: its root. Without one where groups are no objects (1.35).
struct root_kind {
  std::string group_api_version; ///< of PodGroup, "scheduling.k8s.io/v1beta1"; empty = no objects
};
/// The metadata of an object that is not there yet.
boost::json::object new_metadata(const protocol::decision& what, const root_kind& roots);

/// A piece of a decision that is too large for one object.
struct chunk {
  std::string name; ///< says the content, the slot and the GangDecision that it belongs to
  std::string data;
};
/// Cuts the bytes of a decision for the object `of`, which is there.
std::vector<chunk> cut(std::string_view bytes, std::size_t size, const decision_object& of,
                       const base::slot_id& slot);
/// The bytes in the answer to a GET of a chunk. `corrupt` if it is none.
base::result<std::string> read_chunk(std::string_view body);

// ---- requests; those that finish what is decided are urgent
protocol::http_request create_decision_request(const decision_object& x);
/// Replaces exactly the version that `x` was read from.
protocol::http_request replace_decision_request(const decision_object& x, bool is_urgent);
protocol::http_request get_decision_request(std::string_view space, std::string_view name);
/// The object of this name in whatever namespace, as a list.
protocol::http_request find_decision_request(std::string_view name);
/// A page of all; `token` goes on where the last page ended.
protocol::http_request list_decisions_request(std::string_view token);
/// A page of those that are unfinished, or were a moment ago: what the server has at hand will do.
protocol::http_request list_unfinished_request(std::string_view token);
protocol::http_request delete_decision_request(std::string_view space, std::string_view name);
protocol::http_request create_chunk_request(const chunk& x, const decision_object& of);
protocol::http_request get_chunk_request(std::string_view space, std::string_view name);
protocol::http_request delete_chunk_request(std::string_view space, std::string_view name);

} // namespace tutti::bridge
