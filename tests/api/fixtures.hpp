// Small words in which tests of the value half tell their stories.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

#include "api/decode.hpp"

namespace tutti::api::testing_words {

/// JSON with ' for ", so that tests stay readable.
inline boost::json::object json(std::string text) {
  std::replace(text.begin(), text.end(), '\'', '"');
  return boost::json::parse(text).as_object();
}

/// The value of a result that must be one.
template <class T>
T sound(base::result<T> x) {
  EXPECT_TRUE(x.has_value()) << x.error().message();
  return x ? std::move(*x) : T{};
}

/// The message of a result that must be an error of bad input.
template <class T>
std::string complaint(const base::result<T>& x) {
  if (x)
    return "(no error)";
  EXPECT_EQ(x.error().what(), base::code::bad_input);
  return x.error().message();
}

inline pod pod_with(const std::string& spec, const std::string& status = "{}") {
  return sound(decode_pod(
      json("{'metadata':{'name':'p','uid':'u'},'spec':" + spec + ",'status':" + status + "}")));
}

inline node node_with(const std::string& labels, const std::string& spec = "{}") {
  return sound(
      decode_node(json("{'metadata':{'name':'n1','labels':" + labels + "},'spec':" + spec + "}")));
}

} // namespace tutti::api::testing_words
