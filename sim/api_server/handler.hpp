// From an HTTP request to its answer, without any I/O: routing, lists and watches, and the wording
// of answers.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "persistence/disk_space.hpp"
#include "sim/api_server/discovery.hpp"
#include "sim/api_server/registry.hpp"
#include "sim/api_server/request.hpp"
#include "sim/api_server/watch.hpp"

namespace tutti::sim::api_server {

/// What goes back. It may be sent once the store is durable up to `after`; a stream never ends by
/// itself before its time.
struct answer {
  response now;
  std::unique_ptr<watch> stream; ///< if set, `now` holds only the head's fields
  revision after = 0;
};

/// Where a paged list goes on: the revision that all its pages show, and the next key.
struct page_mark {
  revision at = 0;
  std::string key;
};

class handler {
public:
  handler(const catalog& kinds, store& objects, registry& writes, const base::clock& time);

  answer on(const request& r);
  /// From here on requests are judged by this; before, there is plenty.
  void say_disk(const persistence::disk_space& x) { space_ = x; }

  /// Requests so far by "VERB resource", e.g. "create pods/binding".
  const std::map<std::string, std::uint64_t, std::less<>>& counters() const { return counters_; }

private:
  struct route;
  std::optional<refusal> lacks_space(const request& r, const target& path) const;
  outcome<response> dispatch(const request& r, const target& path, answer& out);
  outcome<response> collection(const request& r, const target& path, const route& to, answer& out);
  outcome<response> one(const request& r, const target& path, const route& to);
  outcome<response> pod_verb(const request& r, const target& path, const route& to);
  outcome<response> list(const request& r, const target& path, const route& to);
  outcome<page_mark> page_of(const target& path, const route& to) const;
  refusal page_expired(kind_id kind, const page_mark& mark, bool has_token) const;
  outcome<response> start_watch(const request& r, const target& path, const route& to, answer& out);
  outcome<response> change(const request& r, const target& path, const route& to);
  outcome<response> remove(const request& r, const target& path, const route& to);
  outcome<response> remove_all(const request& r, const target& path, const route& to);
  void count(std::string_view verb, const route& to);

  const catalog& kinds_;
  store& store_;
  registry& registry_;
  const base::clock& clock_;
  persistence::disk_space space_;
  discovery discovery_;
  std::map<std::string, std::uint64_t, std::less<>> counters_;
};

} // namespace tutti::sim::api_server
