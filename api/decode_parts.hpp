// Parts that several kinds of objects have in common, read from a cursor. For the decoders only.
#pragma once

#include <vector>

#include "api/json_cursor.hpp"
#include "api/objects.hpp"

namespace tutti::api {

object_meta read_meta(const cursor& root);
std::vector<condition> read_conditions(const cursor& list);

/// A list of amounts as the scheduler counts them. `pods` is left out of requests: a pod is one,
/// whatever it says. A negative amount is a mistake.
enum class amounts_of : std::uint8_t { requests, allocatable };
base::resources read_amounts(const cursor& list, amounts_of what);

/// In, NotIn, …; nothing (and no mistake) if the word is none of ours.
std::optional<label_requirement> read_requirement(const cursor& x);

/// Affinity among pods and topology spread of a pod whose `meta` is read already. What cannot be
/// understood is a path in `unweighed` if it is a demand, and left out if it is a wish.
void read_ties(const cursor& spec, pod& out);

/// Calls `decode(cursor)` on the root and turns the first mistake into an error.
template <class Decode>
auto decode_whole(const boost::json::object& object, Decode decode)
    -> base::result<decltype(decode(std::declval<const cursor&>()))> {
  cursor::mistakes found;
  cursor root(object, found);
  auto out = decode(root);
  if (found.first)
    return *found.first;
  return out;
}

} // namespace tutti::api
