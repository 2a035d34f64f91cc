// What the queue keeps across restarts: counters, rests and explanations, as versioned bytes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json.hpp>

#include "base/explanation.hpp"
#include "base/ids.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "protocol/facts.hpp"

namespace tutti::queue {

/// One gang that was not at rest. Its order is not here: priority and age are API truth. Nor is
/// what people were told: it may never have been written.
struct remembered {
  protocol::object_name name;
  bool is_lone_pod = false;
  std::uint32_t attempts = 0;
  std::uint32_t refused = 0;
  std::uint32_t errors = 0;
  std::uint32_t conflicts = 0;
  std::int64_t rest_ms = 0; ///< left of the rest when the bytes were made; clocks do not survive
  std::vector<std::string> held_by; ///< uids of gated members that hold the others back, ascending
  std::optional<base::explanation> why; ///< of the last refused attempt

  friend bool operator==(const remembered&, const remembered&) = default;
};
using memories = std::map<base::gang_uid, remembered>;

/// Puts the checkpoint together, one gang after the other: there may be a hundred thousand of them,
/// most of them for one of a few reasons.
///
///     {"version":2,"gangs":[{"uid":…,"why":0,…},…],"whys":[{"reason":…},…]}
///
/// Fields that are missing read as zero, unknown ones are ignored. Version 1 had each explanation
/// in its gang.
class memory_writer {
public:
  /// Each gang once; of one that was added twice the first counts. `why`, about the
  /// view `view_version`, is written, not `x.why`.
  void add(const base::gang_uid& uid, const remembered& x, const base::explanation* why,
           std::uint64_t view_version);
  std::string take();

private:
  std::string gangs_;
  std::map<std::string, std::size_t> whys_; ///< JSON → place in the list
};

std::string encode(const memories& x);
/// `corrupt` or `newer_format`.
base::result<memories> decode(std::string_view bytes);

/// All fields of an explanation by name, and back. Codes that are not known read as `none`.
boost::json::object to_json(const base::explanation& x);
base::explanation explanation_from(const boost::json::object& x);

} // namespace tutti::queue
