// How commands print: errors in one shape, tables that grep well, machine formats on request.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/value.hpp>

#include "base/result.hpp"

namespace tutti::cli {

/// "error: MESSAGE" and, if there is one, "hint: HINT", on stderr.
void print_error(const base::error& e);

/// "warning: MESSAGE" and "hint: HINT", on stderr: what goes on all the same.
void print_warning(const base::error& e);

/// What is said of input files that hold nothing: "no objects in a.yaml, b.yaml".
base::error no_objects(const std::vector<std::string>& files);

/// Flushes stdout. `io` if something that was printed did not get out: a full disk, a closed pipe.
base::result<void> flush_output();

/// Rows under a header of upper-case titles, columns padded with spaces, no borders. Empty cells
/// print as <none>.
class table {
public:
  explicit table(std::vector<std::string> titles);
  void add(std::vector<std::string> cells);
  /// The titles and all rows.
  std::string text() const;
  /// One more row under the same titles, which is not kept. Columns only ever become wider.
  std::string line(std::vector<std::string> cells);

private:
  void fit(std::vector<std::string>& cells);
  std::string row_text(const std::vector<std::string>& row) const;

  std::vector<std::size_t> width_;
  std::vector<std::vector<std::string>> rows_;
};

/// "14m", "2h", "3d": as kubectl prints ages.
std::string age_text(std::int64_t ms);

/// The value of a field as a cell: strings bare, numbers plain, absent or null as "".
std::string cell(const boost::json::object& row, std::string_view field);
/// The value of a field as a whole number; 0 if it is absent or none.
std::int64_t number(const boost::json::object& row, std::string_view field);

/// Amounts as the daemon writes them ({"cpu_milli": 500, …}) for people: "cpu=500m,memory=2Gi".
/// Amounts of zero and the number of pods are left out.
std::string amounts_text(const boost::json::object& row, std::string_view field);
/// The values of a small object, joined: {"zone": "a", "rack": "r1"} is "a/r1".
std::string values_text(const boost::json::object& row, std::string_view field);

/// How far a wave of gangs is, from counts by phase and the seconds since the start:
/// "420 of 423 gangs bound, 3 Queued, 84/s".
std::string progress_text(const boost::json::object& phases, double seconds);

/// JSON with two spaces of indent and a newline at the end.
std::string pretty_json(const boost::json::value& v);
/// The same value as YAML; texts that YAML would read as something else are quoted.
std::string yaml_text(const boost::json::value& v);

/// The one of `known` that `word` is most likely a misspelling of: at most two letters added, left
/// out or changed, and at most half of it. Empty if none is that near.
std::string nearest(const std::string& word, const std::vector<std::string>& known);

/// Only on a terminal, and never against NO_COLOR.
bool may_colour();

} // namespace tutti::cli
