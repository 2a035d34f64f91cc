// Errors, tables, JSON and YAML as text.
#include "cli/output.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <regex>
#include <utility>

#include <unistd.h>

#include <boost/json/serialize.hpp>
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include "base/resources.hpp"

namespace tutti::cli {

namespace {

namespace json = boost::json;

void indent(std::string& out, int depth) {
  out.append(static_cast<std::size_t>(depth) * 2, ' ');
}

void write_pretty(std::string& out, const json::value& v, int depth) {
  if (const auto* o = v.if_object(); o != nullptr && !o->empty()) {
    out += "{\n";
    bool is_first = true;
    for (const auto& [key, x] : *o) {
      out += is_first ? "" : ",\n";
      is_first = false;
      indent(out, depth + 1);
      out += json::serialize(json::string{key}) + ": ";
      write_pretty(out, x, depth + 1);
    }
    out += "\n";
    indent(out, depth);
    out += "}";
  } else if (const auto* a = v.if_array(); a != nullptr && !a->empty()) {
    out += "[\n";
    bool is_first = true;
    for (const auto& x : *a) {
      out += is_first ? "" : ",\n";
      is_first = false;
      indent(out, depth + 1);
      write_pretty(out, x, depth + 1);
    }
    out += "\n";
    indent(out, depth);
    out += "]";
  } else {
    out += json::serialize(v);
  }
}

/// A text that YAML would read as a number, a time, a truth value or nothing if it stood there
/// bare.
bool looks_like_another_type(const std::string& text) {
  static const std::regex other{R"(~|null|true|false|yes|no|on|off|y|n|[-+]?0[xob][0-9a-f_]+)"
                                R"(|[-+]?[0-9_]*\.?[0-9_]*(e[-+]?[0-9]+)?|[-+]?\.(inf|nan))"
                                R"(|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}.*)",
                                std::regex::icase};
  return std::regex_match(text, other);
}

void write_yaml(YAML::Emitter& out, const json::value& v) {
  switch (v.kind()) {
  case json::kind::object:
    out << YAML::BeginMap;
    for (const auto& [key, x] : v.get_object()) {
      out << YAML::Key << std::string{key} << YAML::Value;
      write_yaml(out, x);
    }
    out << YAML::EndMap;
    break;
  case json::kind::array:
    out << YAML::BeginSeq;
    for (const auto& x : v.get_array())
      write_yaml(out, x);
    out << YAML::EndSeq;
    break;
  case json::kind::string:
    if (looks_like_another_type(std::string{v.get_string()}))
      out << YAML::DoubleQuoted;
    out << std::string{v.get_string()};
    break;
  case json::kind::bool_:
    out << v.get_bool();
    break;
  case json::kind::int64:
    out << v.get_int64();
    break;
  case json::kind::uint64:
    out << v.get_uint64();
    break;
  case json::kind::double_:
    out << v.get_double();
    break;
  case json::kind::null:
    out << YAML::Null;
    break;
  }
}

void say(const char* what, const base::error& e) {
  std::fputs(fmt::format("{}: {}\n", what, e.message()).c_str(), stderr);
  if (!e.hint().empty())
    std::fputs(fmt::format("hint: {}\n", e.hint()).c_str(), stderr);
}

/// How many letters to add, leave out or change to make one word the other.
std::size_t letters_apart(const std::string& a, const std::string& b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    auto corner = std::exchange(row[0], i + 1);
    for (std::size_t k = 0; k < b.size(); ++k) {
      const auto changed = corner + (a[i] == b[k] ? 0 : 1);
      corner = row[k + 1];
      row[k + 1] = std::min({changed, row[k] + 1, row[k + 1] + 1});
    }
  }
  return row.back();
}

} // namespace

void print_error(const base::error& e) {
  say("error", e);
}

void print_warning(const base::error& e) {
  say("warning", e);
}

base::error no_objects(const std::vector<std::string>& files) {
  return {base::code::bad_input, fmt::format("no objects in {}", fmt::join(files, ", ")),
          "give nodes, pods and groups as YAML or JSON; examples/small has some"};
}

base::result<void> flush_output() {
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0)
    return {};
  return base::error{base::code::io,
                     fmt::format("cannot write the output: {}",
                                 errno == 0 ? "not all of it got out" : std::strerror(errno)),
                     "free space, or send the output elsewhere"};
}

table::table(std::vector<std::string> titles) : width_(titles.size()) {
  fit(titles);
  rows_.push_back(std::move(titles));
}

void table::fit(std::vector<std::string>& cells) {
  cells.resize(width_.size());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (cells[i].empty())
      cells[i] = "<none>";
    width_[i] = std::max(width_[i], cells[i].size());
  }
}

void table::add(std::vector<std::string> cells) {
  fit(cells);
  rows_.push_back(std::move(cells));
}

std::string table::row_text(const std::vector<std::string>& row) const {
  std::string out;
  for (std::size_t i = 0; i + 1 < row.size(); ++i)
    out += fmt::format("{:<{}}   ", row[i], width_[i]);
  return out + row.back() + "\n";
}

std::string table::text() const {
  std::string out;
  for (const auto& row : rows_)
    out += row_text(row);
  return out;
}

std::string table::line(std::vector<std::string> cells) {
  fit(cells);
  return row_text(cells);
}

std::string age_text(std::int64_t ms) {
  const auto s = ms / 1000;
  if (s < 120)
    return fmt::format("{}s", std::max<std::int64_t>(s, 0));
  if (s < 2 * 3600)
    return fmt::format("{}m", s / 60);
  if (s < 48 * 3600)
    return fmt::format("{}h", s / 3600);
  return fmt::format("{}d", s / 86400);
}

std::string cell(const json::object& row, std::string_view field) {
  const auto* v = row.if_contains(field);
  if (v == nullptr || v->is_null())
    return {};
  return v->is_string() ? std::string{v->get_string()} : json::serialize(*v);
}

std::int64_t number(const json::object& row, std::string_view field) {
  const auto* v = row.if_contains(field);
  if (v == nullptr || !v->is_number())
    return 0;
  return v->is_double() ? static_cast<std::int64_t>(v->get_double()) : v->to_number<std::int64_t>();
}

std::string amounts_text(const json::object& row, std::string_view field) {
  const auto* amounts = row.if_contains(field);
  if (amounts == nullptr || !amounts->is_object())
    return {};
  std::string out;
  for (const auto& [key, value] : amounts->get_object()) {
    std::string_view name{key};
    if (name == "cpu_milli")
      name = "cpu";
    else if (name == "memory_bytes")
      name = "memory";
    else if (name == "ephemeral_bytes")
      name = "ephemeral-storage";
    const auto amount = number(amounts->get_object(), key);
    if (amount != 0 && name != "pods")
      out += fmt::format("{}{}={}", out.empty() ? "" : ",", name, base::amount_text(name, amount));
  }
  return out;
}

std::string progress_text(const boost::json::object& phases, double seconds) {
  std::int64_t all = 0;
  std::string others;
  for (const auto& [phase, count] : phases) {
    const auto n = number(phases, phase);
    all += n;
    if (n > 0 && phase != "Bound")
      others += fmt::format(", {} {}", n, std::string_view{phase});
  }
  const auto bound = number(phases, "Bound");
  const auto rate = seconds > 0 ? static_cast<double>(bound) / seconds : 0.0;
  return fmt::format("{} of {} gangs bound{}, {:.0f}/s", bound, all, others, rate);
}

std::string values_text(const json::object& row, std::string_view field) {
  const auto* values = row.if_contains(field);
  if (values == nullptr || !values->is_object())
    return {};
  std::string out;
  for (const auto& [key, value] : values->get_object())
    if (value.is_string() && !value.get_string().empty())
      out += (out.empty() ? "" : "/") + std::string{value.get_string()};
  return out;
}

std::string pretty_json(const json::value& v) {
  std::string out;
  write_pretty(out, v, 0);
  return out + "\n";
}

std::string yaml_text(const json::value& v) {
  YAML::Emitter out;
  write_yaml(out, v);
  return std::string{out.c_str()} + "\n";
}

std::string nearest(const std::string& word, const std::vector<std::string>& known) {
  std::size_t best = std::min<std::size_t>(3, word.size() / 2 + 1);
  std::string found;
  for (const auto& other : known)
    if (const auto far = letters_apart(word, other); far < best) {
      best = far;
      found = other;
    }
  return found;
}

bool may_colour() {
  const char* no = std::getenv("NO_COLOR");
  return (no == nullptr || *no == '\0') && ::isatty(STDOUT_FILENO) == 1;
}

} // namespace tutti::cli
