// Turns the text of a manifest file, YAML or JSON, into JSON values as kubectl does.
//
// kubectl reads YAML 1.1: `yes` is true, `010` is eight, `1e3` is 1000, and a version written as
// `1.10` without quotes is the number 1.1. A server sees the JSON that comes out of it; so must we,
// or a manifest would mean one thing here and another on the cluster.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <boost/json/value.hpp>

#include "base/result.hpp"

namespace tutti::api {

/// One document of a file; empty ones are left out but counted.
struct text_document {
  int number = 1; ///< 1-based
  boost::json::value content;
};

/// All documents of `text`: YAML, several separated by `---`, or JSON objects one after another.
/// Anchors, aliases and merge keys are resolved. `bad_input` with "document 2, line 3:7: …" for
/// what is no YAML, "document 2, spec.x: …" for a key that is there twice or is no text.
base::result<std::vector<text_document>> parse_documents(std::string_view text);

/// A YAML scalar without quotes and tag as JSON: null, true, 3, 2.5 or a string.
boost::json::value plain_scalar(std::string_view text);

} // namespace tutti::api
