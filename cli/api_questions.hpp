// Questions to an API server, one after the other, on behalf of one command.
#pragma once

#include <memory>
#include <string>

#include <boost/json/object.hpp>

#include "base/result.hpp"
#include "base/time.hpp"
#include "cli/api_access.hpp"
#include "cli/doorkeeper.hpp"

namespace tutti::cli {

/// Not thread-safe. Every question waits at most a minute.
class api_questions {
public:
  /// Finds the server as `find_access` does and opens the way to it; nothing is asked yet. Warns of
  /// what is dangerous. `clock` outlives it.
  static base::result<api_questions> open(const api_flags& flags, const base::clock& clock);

  /// The server, in messages.
  const std::string& name() const { return name_; }
  /// Whose cluster it is and what it speaks. Call before the first question, or not at all.
  base::result<cluster_facts> facts();

  struct answer {
    int status = 0;
    std::string body;
  };
  /// `unavailable` if no whole answer comes in time; every status is an answer.
  base::result<answer> ask(const char* method, const std::string& target);
  /// The object that a GET brings. `forbidden` (403; `rights` says which are needed), `unavailable`
  /// for everything else but 200.
  base::result<boost::json::object> get(const std::string& target, const std::string& rights);

private:
  api_questions(std::unique_ptr<doorkeeper> door, std::string name)
      : door_(std::move(door)), name_(std::move(name)) {}

  std::unique_ptr<doorkeeper> door_;
  std::string name_;
  std::uint64_t last_id_ = 0;
  bool is_open_ = false;
};

} // namespace tutti::cli
