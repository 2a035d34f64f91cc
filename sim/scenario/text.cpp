#include "sim/scenario/text.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include <boost/json.hpp>
#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "api/manifest_text.hpp"

namespace tutti::sim::scenario {

namespace {

/// Aliases make trees larger than their text; no story needs more than this.
constexpr std::size_t nodes_max = 1'000'000;

class converter {
public:
  tree convert(const YAML::Node& from) {
    if (++nodes_ > nodes_max)
      throw bad_story{from.Mark().line + 1, "the document is too large"};
    tree out;
    out.line = from.Mark().line + 1;
    switch (from.Type()) {
    case YAML::NodeType::Undefined:
    case YAML::NodeType::Null:
      break;
    case YAML::NodeType::Scalar:
      out.is = tree::kind::text;
      out.text = from.Scalar();
      out.is_quoted = from.Tag() == "!" || from.Tag() == "tag:yaml.org,2002:str";
      break;
    case YAML::NodeType::Sequence:
      out.is = tree::kind::list;
      for (const auto& x : from)
        out.items.push_back(convert(x));
      break;
    case YAML::NodeType::Map:
      out.is = tree::kind::map;
      for (const auto& x : from)
        add(out, x.first, x.second);
      break;
    }
    return out;
  }

private:
  void add(tree& to, const YAML::Node& name, const YAML::Node& value) {
    const int line = name.Mark().line + 1;
    if (!name.IsScalar())
      throw bad_story{line, "a key must be a text"};
    if (to.find(name.Scalar()))
      throw bad_story{line, fmt::format("\"{}\" is there twice", name.Scalar())};
    to.fields.push_back({name.Scalar(), line, convert(value)});
  }

  std::size_t nodes_ = 0;
};

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + by.size()))
    text.replace(at, what.size(), by);
  return text;
}

std::optional<base::duration> unit_named(std::string_view name) {
  using namespace std::chrono_literals;
  if (name == "ms")
    return 1ms;
  if (name == "us")
    return 1us;
  if (name == "s")
    return 1s;
  if (name == "m")
    return 1min;
  if (name == "h")
    return 1h;
  return std::nullopt;
}

} // namespace

const tree* tree::find(std::string_view name) const {
  for (const auto& f : fields)
    if (f.name == name)
      return &f.value;
  return nullptr;
}

std::vector<tree> read_documents(const std::string& text) {
  std::vector<tree> out;
  try {
    for (const auto& document : YAML::LoadAll(text)) {
      auto one = converter{}.convert(document);
      if (one.is != tree::kind::nothing)
        out.push_back(std::move(one));
    }
  } catch (const YAML::Exception& e) {
    throw bad_story{e.mark.line + 1, e.msg};
  }
  return out;
}

void fail(const tree& where, std::string why) {
  throw bad_story{where.line, std::move(why)};
}

void fail_unknown(const tree& where, std::string_view sort, std::string_view word,
                  const std::vector<std::string>& allowed) {
  fail(where, fmt::format("\"{}\" is no {}; allowed: {}", word, sort, fmt::join(allowed, ", ")));
}

boost::json::value to_json(const tree& x) {
  namespace json = boost::json;
  switch (x.is) {
  case tree::kind::nothing:
    return nullptr;
  case tree::kind::text:
    return x.is_quoted ? json::value(x.text) : api::plain_scalar(x.text);
  case tree::kind::list: {
    json::array out;
    for (const auto& item : x.items)
      out.push_back(to_json(item));
    return out;
  }
  case tree::kind::map: {
    json::object out;
    for (const auto& f : x.fields)
      out[f.name] = to_json(f.value);
    return out;
  }
  }
  return nullptr;
}

std::string to_text(const tree& x) {
  std::vector<std::string> parts;
  switch (x.is) {
  case tree::kind::nothing:
    return "null";
  case tree::kind::text:
    return x.is_quoted ? fmt::format("\"{}\"", x.text) : x.text;
  case tree::kind::list:
    for (const auto& item : x.items)
      parts.push_back(to_text(item));
    return fmt::format("[{}]", fmt::join(parts, ", "));
  case tree::kind::map:
    for (const auto& f : x.fields)
      parts.push_back(fmt::format("{}: {}", f.name, to_text(f.value)));
    return fmt::format("{{{}}}", fmt::join(parts, ", "));
  }
  return {};
}

tree with_replaced(const tree& x, const std::string& word, const std::string& by) {
  const auto what = "$" + word;
  auto out = x;
  out.text = replaced(out.text, what, by);
  for (auto& item : out.items)
    item = with_replaced(item, word, by);
  for (auto& f : out.fields) {
    f.name = replaced(f.name, what, by);
    f.value = with_replaced(f.value, word, by);
  }
  return out;
}

const std::string& text_of(const tree& x) {
  if (x.is != tree::kind::text)
    fail(x, fmt::format("{} is no text", to_text(x)));
  return x.text;
}

std::int64_t number_of(const tree& x) {
  const auto& text = text_of(x);
  std::int64_t n = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (failed != std::errc{} || end != text.data() + text.size())
    fail(x, fmt::format("\"{}\" is no whole number", text));
  return n;
}

bool flag_of(const tree& x) {
  const auto& text = text_of(x);
  if (text != "true" && text != "false")
    fail_unknown(x, "yes or no", text, {"true", "false"});
  return text == "true";
}

base::duration duration_of(const tree& x) {
  const auto& text = text_of(x);
  base::duration sum{};
  std::string_view rest = text;
  if (text == "0")
    return sum;
  while (!rest.empty()) {
    std::uint32_t n = 0;
    const auto [end, failed] = std::from_chars(rest.data(), rest.data() + rest.size(), n);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    const auto unit = rest.substr(0, rest.find_first_of("0123456789"));
    const auto length = unit_named(unit);
    if (failed != std::errc{} || !length) {
      rest = text; // whatever was read of it is no good
      break;
    }
    sum += *length * n;
    rest.remove_prefix(unit.size());
  }
  if (!rest.empty() || text.empty())
    fail(x, fmt::format("\"{}\" is no duration; allowed: 200ms, 30s, 10m, 2h, 1m30s", text));
  return sum;
}

const std::string& word_of(const tree& x, std::string_view sort,
                           const std::vector<std::string>& allowed) {
  const auto& text = text_of(x);
  if (std::find(allowed.begin(), allowed.end(), text) == allowed.end())
    fail_unknown(x, sort, text, allowed);
  return text;
}

std::vector<std::string> texts_of(const tree& x) {
  if (x.is == tree::kind::text)
    return {x.text};
  std::vector<std::string> out;
  for (const auto& item : list_of(x).items)
    out.push_back(text_of(item));
  return out;
}

const tree& map_of(const tree& x) {
  if (x.is != tree::kind::map)
    fail(x, fmt::format("{} is no mapping", to_text(x)));
  return x;
}

const tree& list_of(const tree& x) {
  if (x.is != tree::kind::list)
    fail(x, fmt::format("{} is no list", to_text(x)));
  return x;
}

// ---------------------------------------------------------------- mappings

mapping::mapping(const tree& x, std::string sort) : x_(&x), sort_(std::move(sort)) {
  if (x.is != tree::kind::nothing)
    map_of(x);
}

const tree* mapping::take(const std::string& name) {
  asked_.push_back(name);
  return x_->find(name);
}

const tree& mapping::need(const std::string& name) {
  const auto* found = take(name);
  if (!found)
    fail(*x_, fmt::format("\"{}\" is missing: a {}", name, sort_));
  return *found;
}

void mapping::end(const std::function<bool(const field&)>& others) {
  for (const auto& f : x_->fields) {
    if (std::find(asked_.begin(), asked_.end(), f.name) != asked_.end())
      continue;
    if (others && others(f))
      continue;
    auto where = f.value;
    where.line = f.line;
    fail_unknown(where, sort_, f.name, asked_);
  }
}

} // namespace tutti::sim::scenario
