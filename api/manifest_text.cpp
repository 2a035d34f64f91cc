// Turns YAML or JSON text into JSON documents.
#include "api/manifest_text.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <sstream>
#include <utility>

#include <boost/json.hpp>
#include <boost/json/basic_parser_impl.hpp>
#include <fmt/format.h>
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include "base/ensure.hpp"

namespace tutti::api {
namespace {

namespace json = boost::json;

/// Values that aliases may add to one document: stops "billion laughs" long before memory does.
constexpr std::size_t alias_values_max = 1'000'000;
/// Maps and lists inside each other. No object of Kubernetes needs a tenth of it; readers recurse
/// on it, and YAML's own gives up at 500 with no word of why.
constexpr std::size_t depth_max = 400;
/// So much of a path is shown of a value that is nested too deep.
constexpr std::size_t path_bytes_shown = 60;

/// What is wrong, and where in the document. Never leaves this file.
struct complaint {
  std::string text;
};

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  for (auto word : words)
    if (text == word)
      return true;
  return false;
}

std::optional<bool> as_bool(std::string_view text) {
  if (is_one_of(text, {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"}))
    return true;
  if (is_one_of(text, {"n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"}))
    return false;
  return std::nullopt;
}

template <class Int>
std::optional<Int> as_integer(std::string_view text) {
  bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+'))
    text.remove_prefix(1);
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    auto mark = text[1];
    base = mark == 'x' || mark == 'X' ? 16 : mark == 'b' || mark == 'B' ? 2 : 8;
    text.remove_prefix(base == 8 && mark != 'o' && mark != 'O' ? 1 : 2);
  }
  if (text.empty() || text[0] == '-' || (is_negative && std::is_unsigned_v<Int>))
    return std::nullopt;
  auto digits = (is_negative ? "-" : "") + std::string{text};
  Int value{};
  auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (failure != std::errc{} || end != digits.data() + digits.size())
    return std::nullopt;
  return value;
}

/// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool looks_like_float(std::string_view text) {
  auto skip = [&](auto&& taken) {
    std::size_t count = 0;
    while (!text.empty() && taken(text.front())) {
      text.remove_prefix(1);
      ++count;
    }
    return count;
  };
  auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  auto skip_one = [&](std::string_view among) {
    bool has = !text.empty() && among.find(text.front()) != among.npos;
    if (has)
      text.remove_prefix(1);
    return has;
  };
  skip_one("+-");
  auto digits = skip(is_digit);
  if (skip_one("."))
    digits += skip(is_digit);
  if (digits == 0)
    return false;
  if (skip_one("eE")) {
    skip_one("+-");
    if (skip(is_digit) == 0)
      return false;
  }
  return text.empty();
}

json::value number_of(double value) {
  if (std::trunc(value) == value && std::abs(value) < 0x1p63)
    return static_cast<std::int64_t>(value); // 3.0 becomes 3 on its way through JSON
  if (std::trunc(value) == value && value > 0 && value < 0x1p64)
    return static_cast<std::uint64_t>(value);
  return value;
}

std::optional<json::value> as_number(std::string_view text) {
  constexpr std::string_view starts = "0123456789+-.";
  if (text.empty() || starts.find(text.front()) == starts.npos)
    return std::nullopt;
  std::string plain;
  for (char c : text)
    if (c != '_')
      plain += c;
  if (text.front() != '.') {
    if (auto value = as_integer<std::int64_t>(plain))
      return json::value(*value);
    if (auto value = as_integer<std::uint64_t>(plain))
      return json::value(*value);
  }
  if (!looks_like_float(plain))
    return std::nullopt;
  auto* begin = plain.data() + (plain.front() == '+' ? 1 : 0);
  double value = 0;
  auto [end, failure] = std::from_chars(begin, plain.data() + plain.size(), value);
  if (failure != std::errc{} || end != plain.data() + plain.size())
    return std::nullopt;
  return number_of(value);
}

/// A document as it grows: maps and lists that are open, innermost last.
class tree {
public:
  void open(json::value empty, std::size_t anchor = 0) {
    if (levels_.size() == depth_max)
      throw complaint{
          fmt::format("{}…: nested too deeply; allowed: objects and lists, {} in each other",
                      path().substr(0, path_bytes_shown), depth_max)};
    levels_.push_back({std::move(empty), {}, false, false, {}, anchor, values_});
  }

  /// True if the next scalar is a key.
  bool wants_key() const {
    return !levels_.empty() && levels_.back().container.is_object() && !levels_.back().has_key;
  }

  /// `line` of the text, from 1; 0 if it is not known.
  void key(std::string name, bool is_merge = false, int line = 0) {
    auto& inner = levels_.back();
    inner.name = std::move(name);
    inner.has_key = true;
    inner.is_merge = is_merge;
    if (!is_merge && inner.container.get_object().contains(inner.name))
      throw complaint{fmt::format("{}: this key is there twice{}; allowed: once", path(),
                                  line > 0 ? fmt::format(", again in line {}", line) : "")};
  }

  void close() {
    auto done = std::move(levels_.back());
    levels_.pop_back();
    for (auto& from : done.merged)
      for (auto& [name, value] : from)
        if (!done.container.get_object().contains(name))
          done.container.get_object().emplace(name, value);
    add(std::move(done.container), done.anchor, values_ - done.values_before);
  }

  /// `size` counts the values inside, for the limit on aliases.
  void add(json::value value, std::size_t anchor = 0, std::size_t size = 0) {
    ++values_;
    if (anchor != 0)
      anchors_[anchor] = {value, size + 1};
    if (levels_.empty()) {
      root_ = std::move(value);
      return;
    }
    auto& inner = levels_.back();
    if (auto* list = inner.container.if_array())
      list->push_back(std::move(value));
    else if (std::exchange(inner.is_merge, false))
      merge(std::move(value));
    else
      inner.container.get_object().emplace(inner.name, std::move(value));
    inner.has_key = false;
  }

  void add_alias(std::size_t anchor) {
    auto found = anchors_.find(anchor);
    if (found == anchors_.end())
      throw complaint{path() + ": this alias stands inside its own anchor"};
    aliased_ += found->second.second;
    if (aliased_ > alias_values_max)
      throw complaint{fmt::format("{}: aliases add more than {} values", path(), alias_values_max)};
    values_ += found->second.second - 1; // add() counts one
    add(found->second.first);
  }

  /// The path of the value that comes next.
  std::string path() const {
    std::string text;
    for (auto& inner : levels_)
      if (auto* list = inner.container.if_array())
        text += fmt::format("[{}]", list->size());
      else if (inner.has_key)
        text += (text.empty() ? "" : ".") + inner.name;
    return text.empty() ? "top level" : text;
  }

  json::value take() {
    ensure(levels_.empty(), levels_.size());
    auto done = std::move(root_);
    *this = {};
    return done;
  }

private:
  struct level {
    json::value container;
    std::string name; // of the value that comes next, in a map
    bool has_key = false;
    bool is_merge = false;
    std::vector<json::object> merged;
    std::size_t anchor = 0;
    std::size_t values_before = 0;
  };

  void merge(json::value value) {
    auto& merged = levels_.back().merged;
    auto take_one = [&](json::value& from) {
      if (!from.is_object())
        throw complaint{path() + ": is no map; allowed: an alias of a map, or a list of them"};
      merged.push_back(std::move(from.get_object()));
    };
    if (auto* list = value.if_array())
      for (auto& from : *list)
        take_one(from);
    else
      take_one(value);
  }

  std::vector<level> levels_;
  json::value root_;
  std::map<std::size_t, std::pair<json::value, std::size_t>> anchors_;
  std::size_t values_ = 0;
  std::size_t aliased_ = 0;
};

/// What a scalar with a tag means.
json::value tagged_scalar(const std::string& text, std::string_view tag, const tree& where) {
  constexpr std::string_view core = "tag:yaml.org,2002:";
  if (tag == "!" || tag == "tag:yaml.org,2002:str")
    return json::value(text);
  auto plain = plain_scalar(text);
  if (tag == "?" || tag.empty())
    return plain;
  auto kind = tag.starts_with(core) ? tag.substr(core.size()) : std::string_view{};
  bool fits = (kind == "int" && (plain.is_int64() || plain.is_uint64()))
              || (kind == "float" && plain.is_number()) || (kind == "bool" && plain.is_bool())
              || (kind == "null" && plain.is_null());
  if (fits)
    return plain;
  if (kind == "timestamp")
    return json::value(text);
  // What it says may be a secret: a token with a tag that somebody's tools understand.
  throw complaint{fmt::format("{}: what stands there cannot be read as {}; allowed: !!str, !!int, "
                              "!!float, !!bool, !!null",
                              where.path(), tag)};
}

/// A key that is no string is written as one, like kubectl does.
std::string key_of(const json::value& scalar) {
  return scalar.is_string() ? std::string{scalar.get_string()} : json::serialize(scalar);
}

class yaml_reader final : public YAML::EventHandler {
public:
  explicit yaml_reader(std::vector<text_document>& documents) : documents_(documents) {}

  int current() const { return finished_ + 1; }

  /// The parser takes nothing from a document that begins with the end of something, and finds it
  /// again for ever.
  void OnDocumentStart(const YAML::Mark& at) override {
    if (at.pos == began_at_)
      throw YAML::ParserException(at, "nothing can begin here");
    began_at_ = at.pos;
  }
  void OnDocumentEnd() override {
    auto content = tree_.take();
    if (!content.is_null())
      documents_.push_back({current(), std::move(content)});
    ++finished_;
  }
  void OnNull(const YAML::Mark&, YAML::anchor_t anchor) override {
    if (tree_.wants_key())
      throw complaint{tree_.path() + ": has a key that is null; allowed: text"};
    tree_.add(nullptr, anchor);
  }
  void OnAlias(const YAML::Mark&, YAML::anchor_t anchor) override {
    if (tree_.wants_key())
      throw complaint{tree_.path() + ": has an alias for a key; allowed: text"};
    tree_.add_alias(anchor);
  }
  void OnScalar(const YAML::Mark& at, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    if (tree_.wants_key() && text == "<<" && tag == "?")
      return tree_.key(text, true);
    auto value = tagged_scalar(text, tag, tree_);
    if (tree_.wants_key())
      tree_.key(key_of(value), false, at.line + 1);
    else
      tree_.add(std::move(value), anchor);
  }
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(json::array{}, anchor);
  }
  void OnSequenceEnd() override { tree_.close(); }
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(json::object{}, anchor);
  }
  void OnMapEnd() override { tree_.close(); }

private:
  void open(json::value empty, YAML::anchor_t anchor) {
    if (tree_.wants_key())
      throw complaint{tree_.path() + ": has a map or list for a key; allowed: text"};
    tree_.open(std::move(empty), anchor);
  }

  std::vector<text_document>& documents_;
  tree tree_;
  int finished_ = 0;
  int began_at_ = -1; // position of the last document
};

/// Feeds JSON into a tree, so that a name that is there twice is found here too.
struct json_reader {
  static constexpr std::size_t max_object_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_array_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_key_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_string_size = static_cast<std::size_t>(-1);
  using error_code = boost::system::error_code;

  tree grown;
  std::string part;

  bool on_document_begin(error_code&) { return true; }
  bool on_document_end(error_code&) { return true; }
  bool on_object_begin(error_code&) { return grown.open(json::object{}), true; }
  bool on_object_end(std::size_t, error_code&) { return grown.close(), true; }
  bool on_array_begin(error_code&) { return grown.open(json::array{}), true; }
  bool on_array_end(std::size_t, error_code&) { return grown.close(), true; }
  bool on_key_part(json::string_view s, std::size_t, error_code&) { return part.append(s), true; }
  bool on_key(json::string_view s, std::size_t, error_code&) {
    grown.key(std::exchange(part, {}).append(s));
    return true;
  }
  bool on_string_part(json::string_view s, std::size_t, error_code&) {
    return part.append(s), true;
  }
  bool on_string(json::string_view s, std::size_t, error_code&) {
    grown.add(json::value(std::exchange(part, {}).append(s)));
    return true;
  }
  bool on_number_part(json::string_view, error_code&) { return true; }
  bool on_int64(std::int64_t x, json::string_view, error_code&) { return grown.add(x), true; }
  bool on_uint64(std::uint64_t x, json::string_view, error_code&) { return grown.add(x), true; }
  bool on_double(double x, json::string_view, error_code&) { return grown.add(x), true; }
  bool on_bool(bool x, error_code&) { return grown.add(x), true; }
  bool on_null(error_code&) { return grown.add(nullptr), true; }
  bool on_comment_part(json::string_view, error_code&) { return true; }
  bool on_comment(json::string_view, error_code&) { return true; }
};

base::error bad(int document, std::string_view what) {
  return {base::code::bad_input, fmt::format("document {}, {}", document, what)};
}

constexpr std::string_view white_space = " \t\r\n";
constexpr std::string_view syntax_allowed = "; allowed: YAML or JSON";

/// The text could not even be read, rather than being read and found wrong.
bool is_syntax(const base::error& why) {
  return why.message().ends_with(syntax_allowed);
}

base::result<std::vector<text_document>> parse_yaml(std::string_view text) {
  std::vector<text_document> documents;
  yaml_reader reader{documents};
  try {
    std::istringstream stream{std::string{text}};
    YAML::Parser parser{stream};
    while (parser.HandleNextDocument(reader)) {
    }
    return documents;
  } catch (const complaint& e) {
    return bad(reader.current(), e.text);
  } catch (const YAML::Exception& e) {
    return bad(reader.current(), fmt::format("line {}:{}: {}{}", e.mark.line + 1, e.mark.column + 1,
                                             e.msg, syntax_allowed));
  }
}

std::string position(std::string_view text, std::size_t offset) {
  auto before = text.substr(0, offset);
  auto lines = std::count(before.begin(), before.end(), '\n');
  auto start = before.rfind('\n');
  return fmt::format("line {}:{}", lines + 1, offset - (start == before.npos ? 0 : start + 1) + 1);
}

base::result<std::vector<text_document>> parse_json(std::string_view text) {
  std::vector<text_document> documents;
  json::parse_options options;
  options.max_depth = depth_max + 1; // one more than we take: it is we who say so
  std::size_t at = text.find_first_not_of(white_space);
  while (at < text.size()) {
    int number = static_cast<int>(documents.size()) + 1;
    json::basic_parser<json_reader> parser{options};
    boost::system::error_code failure;
    try {
      auto taken = parser.write_some(false, text.data() + at, text.size() - at, failure);
      if (failure)
        return bad(number, fmt::format("{}: {}{}", position(text, at + taken), failure.message(),
                                       syntax_allowed));
      documents.push_back({number, parser.handler().grown.take()});
      at = text.find_first_not_of(white_space, at + taken);
    } catch (const complaint& e) {
      return bad(number, e.text);
    }
  }
  return documents;
}

} // namespace

boost::json::value plain_scalar(std::string_view text) {
  if (is_one_of(text, {"", "~", "null", "Null", "NULL"}))
    return nullptr;
  if (auto value = as_bool(text))
    return *value;
  if (auto value = as_number(text))
    return *value;
  return json::value(text);
}

base::result<std::vector<text_document>> parse_documents(std::string_view text) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with(byte_order_mark))
    text.remove_prefix(byte_order_mark.size());
  auto start = text.find_first_not_of(white_space);
  bool is_json = start != text.npos && text[start] == '{';
  if (!is_json)
    return parse_yaml(text);
  auto as_json = parse_json(text);
  if (as_json)
    return as_json;
  // `{apiVersion: v1, …}` is YAML, though it starts like JSON.
  auto as_yaml = parse_yaml(text);
  const bool is_wrong_yaml = !as_yaml && !is_syntax(as_yaml.error()); // YAML that says nonsense
  return as_yaml || is_wrong_yaml ? as_yaml : as_json;
}

} // namespace tutti::api
