// A walk over brackets and strings that understands no more of JSON than it needs.
#include "bridge/line_head.hpp"

namespace tutti::bridge {
namespace {

class walk {
public:
  explicit walk(std::string_view text) : text_(text) {}

  bool take(char wanted) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != wanted)
      return false;
    ++at_;
    return true;
  }

  /// A string without escapes.
  std::optional<std::string_view> text() {
    if (!take('"'))
      return std::nullopt;
    const auto from = at_;
    for (; at_ < text_.size() && text_[at_] != '"'; ++at_)
      if (text_[at_] == '\\' || static_cast<unsigned char>(text_[at_]) < ' ')
        return std::nullopt;
    return at_ == text_.size() ? std::nullopt : std::optional{text_.substr(from, at_++ - from)};
  }

  /// The name of the next member, behind its colon.
  std::optional<std::string_view> member() {
    const auto name = text();
    return name && take(':') ? name : std::nullopt;
  }

  /// Any value; false where the text ends first.
  bool skip() {
    skip_space();
    int depth = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (depth == 0 && (c == ',' || c == '}' || c == ']'))
        return true; // behind a number or a word
      ++at_;
      if (c == '"' && !skip_string())
        return false;
      if (c == '{' || c == '[')
        ++depth;
      else if (c == '}' || c == ']')
        --depth;
      if (depth == 0 && (c == '"' || c == '}' || c == ']'))
        return true;
    }
    return false;
  }

private:
  void skip_space() {
    while (at_ < text_.size()
           && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r' || text_[at_] == '\n'))
      ++at_;
  }
  bool skip_string() {
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\\')
        ++at_;
      else if (text_[at_] == '"')
        return ++at_, true;
    }
    return false;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

/// Takes a text for `into`, which has none yet.
bool take_once(walk& in, std::string_view& into) {
  const auto found = in.text();
  if (!found || into.data() != nullptr)
    return false;
  into = *found;
  return true;
}

/// Walks over an object: `each(name)` takes the member's value. False where either fails.
template <class Each>
bool read_members(walk& in, Each each) {
  if (!in.take('{'))
    return false;
  if (in.take('}'))
    return true;
  do {
    const auto name = in.member();
    if (!name || !each(*name))
      return false;
  } while (in.take(','));
  return in.take('}');
}

bool read_metadata(walk& in, line_head& out) {
  return read_members(in, [&](std::string_view name) {
    auto* const wanted = name == "name"              ? &out.name
                         : name == "namespace"       ? &out.space
                         : name == "uid"             ? &out.uid
                         : name == "resourceVersion" ? &out.version
                                                     : nullptr;
    return wanted ? take_once(in, *wanted) : in.skip();
  });
}

bool is_whole(const line_head& x) {
  return !x.name.empty() && !x.uid.empty() && !x.version.empty();
}

/// Up to the end of the metadata.
bool read_up_to_metadata(walk& in, line_head& out) {
  if (!in.take('{'))
    return false;
  do {
    const auto name = in.member();
    if (!name)
      return false;
    if (*name == "metadata")
      return read_metadata(in, out);
    if (!in.skip())
      return false;
  } while (in.take(','));
  return false;
}

bool read_items(walk& in, std::vector<line_head>& out) {
  if (!in.take('['))
    return false;
  if (in.take(']'))
    return true;
  do {
    line_head x;
    const bool is_read = read_members(in, [&](std::string_view name) {
      return name == "metadata" ? read_metadata(in, x) : in.skip();
    });
    if (!is_read || !is_whole(x))
      return false;
    out.push_back(x);
  } while (in.take(','));
  return in.take(']');
}

bool ends_as_object(std::string_view line) {
  const auto last = line.find_last_not_of("\r\n ");
  return last != std::string_view::npos && last > 0 && line[last] == '}' && line[last - 1] == '}';
}

} // namespace

std::optional<line_head> read_line_head(std::string_view line) {
  line_head out;
  walk in{line};
  if (!ends_as_object(line) || !in.take('{') || in.member() != "type" || !take_once(in, out.type)
      || !in.take(',') || in.member() != "object" || !read_up_to_metadata(in, out))
    return std::nullopt;
  return is_whole(out) ? std::optional{out} : std::nullopt;
}

std::optional<page_heads> read_page_heads(std::string_view page) {
  page_heads out;
  walk in{page};
  bool has_items = false;
  const bool is_read = read_members(in, [&](std::string_view name) {
    if (name == "items")
      return has_items = read_items(in, out.items);
    if (name != "metadata")
      return in.skip();
    return read_members(in, [&](std::string_view inner) {
      return inner == "resourceVersion" ? take_once(in, out.version)
             : inner == "continue"      ? take_once(in, out.token)
                                        : in.skip();
    });
  });
  return is_read && has_items && !out.version.empty() ? std::optional{std::move(out)}
                                                      : std::nullopt;
}

} // namespace tutti::bridge
