// What can go wrong in a healthy system is a value: a closed code, a message, and where it
// happened.
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include <boost/system/result.hpp>

namespace tutti::base {

/// Every failure belongs to one of these. The exit code of a command follows from it.
enum class code {
  ok,
  bad_input,       ///< a file, a flag, a field: the user can mend it
  not_found,       ///< a file, an object, an address
  already_exists,  ///< duplicate name, port in use
  conflict,        ///< compare-and-set lost
  out_of_range,    ///< arithmetic would wrap, a size above its limit
  unavailable,     ///< peer, server or shard does not answer now
  unknown_outcome, ///< sent, and no answer: it may have happened
  forbidden,       ///< the other side refuses for lack of rights
  locked,          ///< the store is open in another process
  foreign,         ///< a store of another cluster
  corrupt,         ///< a stored record fails its checksum
  newer_format,    ///< written by a later version of the program
  io,              ///< the operating system said no: disk full, fsync failed
  internal         ///< cannot happen, happened, and is not worth an abort
};

std::string_view name_of(code c);

/// `code`, what is wrong, and the context added on the way up ("file a.yaml, document 3: …").
/// `hint` says what the user can do, as a command or a sentence; may be empty.
class error {
public:
  error() = default; // success, as boost::system::result demands
  error(code c, std::string message, std::string hint = {})
      : code_(c), message_(std::move(message)), hint_(std::move(hint)) {}

  code what() const { return code_; }
  const std::string& message() const { return message_; }
  const std::string& hint() const { return hint_; }

  /// The same error with `context` and ": " put in front of the message.
  error in(std::string_view context) const {
    return {code_, std::string{context} + ": " + message_, hint_};
  }

  friend bool operator==(const error&, const error&) = default;

private:
  code code_ = code::ok;
  std::string message_;
  std::string hint_;
};

/// Called by boost when `value()` is asked of a failed result: our bug, so it aborts.
[[noreturn]] void throw_exception_from_error(const error& e, const boost::source_location& where);

template <class T>
using result = boost::system::result<T, error>;

} // namespace tutti::base
