// The text of a scenario file as a tree that knows its lines, and strict ways to read it.
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/value.hpp>

#include "base/time.hpp"

namespace tutti::sim::scenario {

/// A file that is wrong. Thrown by readers of this folder only, and turned into an error with the
/// name of the file where it is opened.
struct bad_story final : std::exception {
  bad_story(int where, std::string why) : line(where), message(std::move(why)) {}
  const char* what() const noexcept override { return message.c_str(); }

  int line;
  std::string message;
};

struct field;

/// One YAML node: nothing, a text, a list or a mapping in the order of the file. Nothing is guessed
/// about texts: whether `y` or `1` is a word or something else is the reader's to say.
struct tree {
  enum class kind : std::uint8_t { nothing, text, list, map };
  kind is = kind::nothing;
  int line = 0;              ///< 1-based
  bool is_quoted = false;    ///< a text in quotes is a string whatever it looks like
  std::string text;          ///< of a text
  std::vector<tree> items;   ///< of a list
  std::vector<field> fields; ///< of a mapping

  /// The value under `name`; null if it is no mapping or has none.
  const tree* find(std::string_view name) const;
};

struct field {
  std::string name;
  int line = 0;
  tree value;
};

/// The documents of a YAML file; empty ones are left out. Anchors are resolved. Throws `bad_story`
/// for what is no YAML and for a key that is there twice.
std::vector<tree> read_documents(const std::string& text);

[[noreturn]] void fail(const tree& where, std::string why);
/// "WORD is no SORT; allowed: a, b, c".
[[noreturn]] void fail_unknown(const tree& where, std::string_view sort, std::string_view word,
                               const std::vector<std::string>& allowed);

/// As kubectl would read it: numbers, booleans and null where the text looks like one.
boost::json::value to_json(const tree& x);
/// As it could stand in a file, on one line: for messages.
std::string to_text(const tree& x);
/// The same tree with every `$WORD` in names and values replaced by `by`.
tree with_replaced(const tree& x, const std::string& word, const std::string& by);

// ---- single values; each throws `bad_story` if the value is something else
const std::string& text_of(const tree& x);
std::int64_t number_of(const tree& x);
bool flag_of(const tree& x);
/// "30s", "200ms", "10m", "1m30s", "2h"; also "0".
base::duration duration_of(const tree& x);
/// One of `allowed`.
const std::string& word_of(const tree& x, std::string_view sort,
                           const std::vector<std::string>& allowed);
/// The texts of a list, or the one text that stands for a list of one.
std::vector<std::string> texts_of(const tree& x);
const tree& map_of(const tree& x);
const tree& list_of(const tree& x);

/// Reads a mapping to the end: every field has to be asked for, so that a misspelt one is found.
class mapping {
public:
  /// `sort` is what messages call a field of it: "step", "field of a pod".
  mapping(const tree& x, std::string sort);
  /// The value of the field, null if absent.
  const tree* take(const std::string& name);
  const tree& need(const std::string& name);
  /// Throws for the first field that nobody has asked for, unless `others` takes it.
  void end(const std::function<bool(const field&)>& others = {});
  const tree& whole() const { return *x_; }

private:
  const tree* x_;
  std::string sort_;
  std::vector<std::string> asked_;
};

} // namespace tutti::sim::scenario
