// What several replicas say of one thing, as one answer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>

namespace tutti::cli {

/// How the answers to a path of the admin address belong together.
enum class togetherness {
  anyone,   ///< each replica knows the whole: the first answer
  best_row, ///< each knows all gangs, and the one that places a gang knows more of it
  owner,    ///< of one gang: the answer of the replica that places it
  pieces    ///< each knows a part: all of them
};
togetherness togetherness_of(std::string_view path);

/// One answer out of at least one, each from another replica, in their order. Items that stand in
/// several answers (pieces: those that are equal) are there once; pieces in the order of their
/// time, else of their shard.
boost::json::object together(togetherness how, std::vector<boost::json::object> answers);

/// True if the gang that the answer is about is placed by another replica.
bool is_elsewhere(const boost::json::object& gang);

} // namespace tutti::cli
