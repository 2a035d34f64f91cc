#include "sim/workload/csv.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include <fmt/format.h>
#include <zlib.h>

namespace tutti::sim::workload {

namespace {

constexpr unsigned read_bytes = 256u << 10;

} // namespace

struct csv_file::inside {
  explicit inside(std::string name) : path(std::move(name)) {}
  ~inside() {
    if (file != nullptr)
      gzclose(file);
  }
  inside(const inside&) = delete;
  inside& operator=(const inside&) = delete;

  /// The next line without its end; false at the end of the file.
  base::result<bool> next_line(std::string& out) {
    for (;;) {
      const auto end = buffer.find('\n', at);
      if (end != std::string::npos) {
        out.assign(buffer, at, end - at);
        at = end + 1;
        return true;
      }
      buffer.erase(0, std::exchange(at, 0));
      if (buffer.size() > line_most)
        return base::error{
            base::code::bad_input,
            fmt::format("{}:{}: the line is longer than {} bytes", path, line + 1, line_most),
            "give a table of comma-separated values"};
      const auto had = buffer.size();
      buffer.resize(had + read_bytes);
      const int n = gzread(file, buffer.data() + had, read_bytes);
      buffer.resize(had + static_cast<std::size_t>(n > 0 ? n : 0));
      int failed = Z_OK;
      const char* why = gzerror(file, &failed);
      if (n < 0 || (n == 0 && failed != Z_OK))
        return base::error{failed == Z_ERRNO ? base::code::io : base::code::corrupt,
                           fmt::format("{}: cannot be read after line {}: {}", path, line,
                                       failed == Z_ERRNO ? std::strerror(errno) : why)};
      if (n == 0) {
        out = std::exchange(buffer, {});
        return !out.empty();
      }
    }
  }

  std::string path;
  gzFile file = nullptr;
  std::string buffer;
  std::size_t at = 0;
  std::uint64_t line = 0;
};

csv_file::csv_file(std::unique_ptr<inside> in) : in_(std::move(in)) {}
csv_file::csv_file(csv_file&&) noexcept = default;
csv_file::~csv_file() = default;

base::result<csv_file> csv_file::open(const std::string& path) {
  std::error_code failed;
  if (!std::filesystem::exists(path, failed))
    return base::error{base::code::not_found, fmt::format("{}: there is no such file", path)};
  if (std::filesystem::is_directory(path, failed))
    return base::error{base::code::bad_input, fmt::format("{} is a directory, not a trace", path)};
  auto in = std::make_unique<inside>(path);
  in->file = gzopen(path.c_str(), "rb");
  if (in->file == nullptr)
    return base::error{base::code::io,
                       fmt::format("{}: cannot be opened: {}", path, std::strerror(errno))};
  return csv_file{std::move(in)};
}

base::result<bool> csv_file::next(std::vector<std::string>& row) {
  std::string text;
  for (;;) {
    const auto has = in_->next_line(text);
    if (!has || !*has)
      return has;
    if (++in_->line == 1 && text.starts_with("\xef\xbb\xbf"))
      text.erase(0, 3);
    if (!text.empty() && text.back() == '\r')
      text.pop_back();
    if (text.find_first_not_of(" \t") == std::string::npos)
      continue;
    row = csv_fields(text);
    return true;
  }
}

std::uint64_t csv_file::line() const {
  return in_->line;
}

std::vector<std::string> csv_fields(std::string_view line) {
  std::vector<std::string> out(1);
  bool is_quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && is_quoted && i + 1 < line.size() && line[i + 1] == '"')
      out.back() += line[++i];
    else if (c == '"')
      is_quoted = !is_quoted;
    else if (c == ',' && !is_quoted)
      out.emplace_back();
    else
      out.back() += c;
  }
  return out;
}

} // namespace tutti::sim::workload
