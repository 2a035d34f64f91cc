// Names in scenario files: ranges that stand for many, and what an API server calls them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/text.hpp"

namespace tutti::sim::scenario {

/// A name as it stands in the file, split: `ns/name`, or `name` in `default`.
struct full_name {
  std::string space = "default";
  std::string name; ///< in the file's letters

  /// What the API server calls it: "default/a". Capitals have become small letters.
  std::string key() const;
  std::string api_name() const;
  friend auto operator<=>(const full_name&, const full_name&) = default;
};
full_name split_name(std::string_view text);

/// `a0..a9` is a0, a1, … a9; `n08..n11` keeps its zeros; `b/x1..x3` is in namespace b; anything
/// without two dots is itself. Throws `bad_story` at `where` for a range that is none.
std::vector<std::string> expand(const std::string& text, const tree& where);
/// All names of a text or a list of texts.
std::vector<std::string> expand_all(const tree& x);

/// The value that the `i`-th of `names` names gets of `values`: dealt out in order, in runs as
/// equal as possible. There are as many names as values at least.
std::size_t dealt(std::size_t i, std::size_t names, std::size_t values);

/// A copy of `x` in which each text that is a range has become the one that the `i`-th of `names`
/// gets. Throws `bad_story` where there are more values than names.
tree with_dealt(const tree& x, std::size_t i, std::size_t names);

/// `rack`, `block`, `zone`, `hostname`, or a label key as it is.
std::string label_key(const std::string& word);
/// `gpu` is `example.com/gpu`; every other resource is called by its own name.
std::string resource_name(const std::string& word);

} // namespace tutti::sim::scenario
