// What a line of a watch is about, read without parsing the object: most lines of a list that is
// heard again tell nothing new, and parsing them is what such a list costs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::bridge {

/// Views into the line.
struct line_head {
  std::string_view type; ///< ADDED, MODIFIED …
  std::string_view space;
  std::string_view name;
  std::string_view uid;
  std::string_view version;
};

/// The head of {"type":…,"object":{…,"metadata":{…}…}}; nothing if the line is not of this form,
/// one of the five is no plain text, or the same member stands there twice up to the end of the
/// metadata. What follows the metadata is not looked at, but that the line ends as an object does.
std::optional<line_head> read_line_head(std::string_view line);

/// What one page of a list has; views into its text. The items have no type.
struct page_heads {
  std::string_view version;
  std::string_view token; ///< of the next page; empty: there is none
  std::vector<line_head> items;
};

/// The heads of {"metadata":{…},"items":[{…},…]}; nothing if the text is not of this form. Costs a
/// tenth of parsing it.
std::optional<page_heads> read_page_heads(std::string_view page);

} // namespace tutti::bridge
