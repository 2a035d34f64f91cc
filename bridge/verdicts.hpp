// What an answer of the API server means for what we asked: one table for all that write or watch.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace tutti::bridge {

enum class operation : std::uint8_t {
  bind,   ///< POST of a Binding
  remove, ///< DELETE of a pod
  patch,  ///< a touch, a condition, an event, a decision: whatever is created, changed or replaced
  read,   ///< GET of one object
  watch   ///< list or watch
};

enum class verdict : std::uint8_t {
  done,      ///< bound; accepted for deletion; written; here it is
  gone,      ///< there is no such object
  replaced,  ///< the name belongs to another uid now
  look,      ///< refused because the object is not what we thought: read it to see how
  wait,      ///< overload or a budget: later, nothing happened
  forbidden, ///< no right
  invalid,   ///< the server calls our request nonsense: our bug
  unknown,   ///< it may have happened: read before anything else
  relist,    ///< the version we know is too old
  too_new,   ///< the version we know is ahead of this server: wait, then list
  reconnect  ///< try the list or watch again
};
inline constexpr int verdict_count = 11;
std::string_view name_of(verdict v);

/// One row: the first that fits decides. `says` is a part of the answer's text; empty = any.
struct verdict_row {
  operation what;
  int lowest;
  int highest;
  std::string_view says;
  verdict then;
};

/// `protocol.md` §2.9 as data; docs/reference/answers.md says the same in prose. The kinds of 409
/// (already on a node, uid or resourceVersion differs, being deleted, gated) are told apart by
/// reading the pod: its words change between releases, its fields do not.
inline constexpr std::array verdict_table{
    verdict_row{operation::bind, 200, 201, "", verdict::done},
    verdict_row{operation::bind, 401, 401, "", verdict::forbidden},
    verdict_row{operation::bind, 403, 403, "", verdict::forbidden},
    verdict_row{operation::bind, 404, 404, "", verdict::gone},
    verdict_row{operation::bind, 408, 408, "", verdict::unknown},
    verdict_row{operation::bind, 409, 409, "", verdict::look},
    verdict_row{operation::bind, 429, 429, "", verdict::wait},
    verdict_row{operation::bind, 400, 499, "", verdict::invalid},

    verdict_row{operation::remove, 200, 202, "", verdict::done},
    verdict_row{operation::remove, 401, 401, "", verdict::forbidden},
    verdict_row{operation::remove, 403, 403, "", verdict::forbidden},
    verdict_row{operation::remove, 404, 404, "", verdict::gone},
    verdict_row{operation::remove, 408, 408, "", verdict::unknown},
    verdict_row{operation::remove, 409, 409, "", verdict::look},
    verdict_row{operation::remove, 429, 429, "", verdict::wait},
    verdict_row{operation::remove, 400, 499, "", verdict::invalid},

    verdict_row{operation::patch, 200, 201, "", verdict::done},
    verdict_row{operation::patch, 401, 401, "", verdict::forbidden},
    verdict_row{operation::patch, 403, 403, "NamespaceTerminating", verdict::gone},
    verdict_row{operation::patch, 403, 403, "", verdict::forbidden},
    verdict_row{operation::patch, 404, 404, "", verdict::gone},
    verdict_row{operation::patch, 408, 408, "", verdict::unknown},
    verdict_row{operation::patch, 409, 409, "", verdict::look},
    verdict_row{operation::patch, 422, 422, "metadata.uid", verdict::replaced},
    verdict_row{operation::patch, 429, 429, "", verdict::wait},
    verdict_row{operation::patch, 400, 499, "", verdict::invalid},

    verdict_row{operation::read, 200, 200, "", verdict::done},
    verdict_row{operation::read, 401, 401, "", verdict::forbidden},
    verdict_row{operation::read, 403, 403, "", verdict::forbidden},
    verdict_row{operation::read, 404, 404, "", verdict::gone},
    verdict_row{operation::read, 429, 429, "", verdict::wait},

    verdict_row{operation::watch, 200, 200, "", verdict::done},
    verdict_row{operation::watch, 400, 400, "", verdict::invalid},
    verdict_row{operation::watch, 401, 401, "", verdict::forbidden},
    verdict_row{operation::watch, 403, 403, "", verdict::forbidden},
    verdict_row{operation::watch, 410, 410, "", verdict::relist},
    verdict_row{operation::watch, 422, 422, "", verdict::invalid},
    verdict_row{operation::watch, 429, 429, "", verdict::wait},
    verdict_row{operation::watch, 504, 504, "Too large resource version", verdict::too_new},
    verdict_row{operation::watch, 0, 999, "", verdict::reconnect},
};

/// The verdict on an answer with `status` and `body` (a Status object, searched as text). What no
/// row names (5xx, odd codes, status 0 for no answer) is `unknown`.
verdict judge(operation what, int status, std::string_view body);

} // namespace tutti::bridge
