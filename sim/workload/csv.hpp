// Comma-separated rows of a file, plain or compressed by gzip, with their line numbers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace tutti::sim::workload {

/// Reads one row after the other; quotes are understood ("a ""b"", c"), line ends may be CR LF, and
/// empty lines are passed over. A quoted field does not span lines.
class csv_file {
public:
  /// `not_found` or `io` if it cannot be opened.
  static base::result<csv_file> open(const std::string& path);
  csv_file(csv_file&&) noexcept;
  ~csv_file();

  /// The next row into `row`, false at the end. `io` or `corrupt` if the file cannot be read on,
  /// `bad_input` for a line that is longer than `line_most`.
  base::result<bool> next(std::vector<std::string>& row);
  /// Of the row that was read last; the first line of the file is 1.
  std::uint64_t line() const;

  /// Longer than any row of numbers.
  static constexpr std::size_t line_most = 64u << 10;

private:
  struct inside;
  explicit csv_file(std::unique_ptr<inside> in);
  std::unique_ptr<inside> in_;
};

/// The fields of one line.
std::vector<std::string> csv_fields(std::string_view line);

} // namespace tutti::sim::workload
