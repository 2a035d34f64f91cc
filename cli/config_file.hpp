// The versioned configuration file of `tutti scheduler`.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>

#include "base/result.hpp"
#include "cli/local.hpp"

namespace tutti::cli {

inline constexpr std::string_view config_version = "tutti.dev/v1alpha1";
inline constexpr std::string_view config_kind = "GangSchedulerConfiguration";

/// One setting: where it stands in the file, and the flag that goes before it (empty: there is
/// none).
struct config_field {
  std::string_view path; ///< "degraded.repairDeadline"
  std::string_view flag;
  /// What may stand there, for errors and for the reference page.
  std::string_view allowed;
  /// `bad_input` with what is wrong, without the place.
  std::function<base::result<void>(const boost::json::value&, local_options&)> take;
  /// The value in force; null where the store or the cluster decides.
  std::function<boost::json::value(const local_options&)> show;
};
/// All there are, in the order in which they are written down.
const std::vector<config_field>& config_fields();

/// Reads the file and sets in `how` what it says, except settings whose flag `is_given`.
/// `not_found`, `io`, or `bad_input` with "FILE: FIELD: what is wrong" for YAML that does not
/// parse, another version or kind, a field that does not exist (the nearest one is the hint) and a
/// value that is not allowed; then `how` is as it was.
base::result<void> read_config(const std::string& file,
                               const std::function<bool(std::string_view flag)>& is_given,
                               local_options& how);

/// The settings in force, as a file that would give them again.
boost::json::object config_in_force(const local_options& how);
/// Writes them as YAML; "-" is standard output. `io` if that fails.
base::result<void> write_config(const local_options& how, const std::string& file);

} // namespace tutti::cli
