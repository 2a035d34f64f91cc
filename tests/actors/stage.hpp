// A whole scheduler on a small cluster: its own store, an API server in this process, HTTP between
// them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "actors/scheduler.hpp"
#include "persistence/store.hpp"
#include "sim/api_server/server.hpp"

#include "tests/actors/inbox.hpp"
#include "tests/actors/waiting.hpp"

namespace rocksdb {
class Env;
}

namespace tutti::actors::testing {

namespace json = boost::json;

/// Carries bytes to the API server, and can keep some of them back.
class gated_carrier;

class stage {
public:
  struct options {
    std::uint32_t shards = 2;
    bool fast_path = true;
    rocksdb::Env* env = nullptr; ///< the disk of the scheduler's store
    std::uint64_t disk_reserve = persistence::disk_reserve_default;
  };
  stage() : stage(options{}) {}
  explicit stage(options how);
  ~stage();

  // ---- the cluster
  void node(const std::string& name, int cpus, const std::string& rack); ///< or changes it
  /// A PodGroup and as many pods as its minimum, each of `cpus`.
  void gang(const std::string& name, int members, int cpus, const std::string& priority = {});
  /// One more pod of a gang: "gang-index".
  void member(const std::string& gang, int index, int cpus, const std::string& priority = {});
  void priority_class(const std::string& name, int value);
  /// Deletes the group and its members at once.
  void remove_gang(const std::string& name, int members);
  /// The node of each bound pod, as the API server has it.
  std::map<std::string, std::string> bound();
  bool is_bound(const std::string& gang, int members);

  // ---- the scheduler
  base::result<void> start();
  void stop();
  scheduler& it() { return *scheduler_; }
  bool is_ready();
  json::value ask(const protocol::address& whom, const std::string& what, const std::string& name);
  /// The gang as the queue tells it, e.g. its "phase".
  std::string word(const std::string& gang, const std::string& field);
  std::string all_words(const std::string& gang);
  std::string uid(const std::string& gang);
  base::node_uid node_uid(const std::string& name);
  std::uint64_t noted(const std::string& what);
  /// Of the kept notes of this kind those whose field has this text.
  std::uint64_t noted_with(const std::string& what, const std::string& field,
                           const std::string& text);
  std::size_t failures();
  base::error failure();

  // ---- what happens to it
  /// Ends the actor at this address as an exit signal does.
  void kill(const protocol::address& where);
  /// From here on POSTs of Bindings are kept back, until `let_bindings_go`. Before `start` it is
  /// about the life that comes; `stop` loses what is kept.
  void keep_bindings();
  void let_bindings_go();
  std::size_t bindings_kept();
  /// From here on lists and watches that are asked for are kept back, until `let_lists_go`; also
  /// over a stop and a start.
  void keep_lists();
  void let_lists_go();
  std::size_t lists_kept();
  /// The gangs of which the stopped scheduler's store keeps a decision.
  std::size_t gangs_in_store();
  /// Puts an actor at `where` that hears everything first; what `may_pass` says no to is lost.
  inbox_ptr tap(const protocol::address& where,
                std::function<bool(const protocol::message&)> may_pass);
  void untap(const protocol::address& where);

private:
  std::string get(const std::string& path);
  int ask_api(protocol::http_request what, std::string* body);

  struct inside;
  std::unique_ptr<inside> in_;
  std::unique_ptr<scheduler> scheduler_;
};

} // namespace tutti::actors::testing
