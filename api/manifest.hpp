// Reads Kubernetes manifests from files, as strict as a cluster would be and clearer about it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>

#include "api/release.hpp"
#include "base/result.hpp"
#include "base/step_watch.hpp"

namespace tutti::api {

/// One object of a file. Only its namespace may have been filled in; defaults are not (see
/// api/defaults.hpp).
struct manifest {
  std::string file;
  int document = 1; ///< 1-based; items of a List share theirs
  boost::json::object object;
  std::string api_version;
  std::string kind;
  std::string ns; ///< empty for kinds without namespace
  std::string name;
  release kubernetes = release::v1_37; ///< whose schema it was checked against
};

/// "file FILE, document N": what messages about the object begin with.
std::string place_of(const manifest& x);

struct manifest_options {
  /// The release whose kinds and fields are accepted. None: all, each object is read as the newest
  /// release that has nothing against it.
  std::optional<release> kubernetes = release::v1_37;
  std::string default_namespace = "default";
  base::step_watch watch; ///< hears of every object; if it says stop, reading fails (`unavailable`)
};

/// Reads files in the given order; "-" is standard input, a directory stands for its *.yaml, *.yml
/// and *.json files by name. Documents may be YAML or JSON, `List` objects are unpacked.
///
/// Fails with one line, "file FILE, document N, FIELD.PATH: what is wrong; allowed: …": `not_found`
/// (no such file), `io`, `already_exists` (the same object twice, over all files) or `bad_input`.
base::result<std::vector<manifest>> read_manifests(const std::vector<std::string>& paths,
                                                   const manifest_options& options = {});
base::result<std::vector<manifest>> read_manifests(const std::string& path,
                                                   const manifest_options& options = {});

/// The same for text that is there already; `file` is what messages call it.
base::result<std::vector<manifest>> read_manifest_text(std::string_view text, std::string_view file,
                                                       const manifest_options& options = {});

} // namespace tutti::api
