// The API server of the small world: the pods of a gang or two, perhaps one in their way, and the
// gangs' decisions, and what is asked about them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "protocol/decision.hpp"
#include "protocol/events.hpp"
#include "protocol/http.hpp"

namespace tutti::chaos::small {

inline constexpr std::size_t pods = 2; ///< of a gang
inline constexpr std::size_t gangs_most = 2;
/// By number: the first gang's pods, the second one's, and the pod in the way.
inline constexpr std::size_t pods_most = pods * gangs_most + 1;
inline constexpr std::size_t the_victim = pods * gangs_most;
constexpr std::size_t gang_of(std::size_t pod) {
  return pod / pods;
} ///< not of the victim
constexpr std::size_t first_of(std::size_t gang) {
  return gang * pods;
}

/// Plain values: a step copies all of it. Answers by the rules that the design relies on ("What
/// Binding gives us" in protocol/README.md), and by no others.
class api_truth {
public:
  struct pod {
    std::uint64_t version = 1;
    std::string node; ///< name; empty = not bound
    std::string fence;
    std::string touch;
    std::string mark;         ///< when it was marked as somebody's victim
    bool is_deleting = false; ///< accepted; it stops some time later
    bool is_gone = false;     ///< or never there

    friend bool operator==(const pod&, const pod&) = default;
  };

  /// So many gangs wait; `victim_on` is the name of the node with a pod on it, empty = none.
  explicit api_truth(std::size_t gangs = 1, std::string victim_on = {});

  static std::string name_of(std::size_t n) {
    return n == the_victim ? "v" : std::string(1, "abcd"[n]);
  }
  static std::string uid_of(std::size_t n) { return name_of(n) + "-uid"; }

  /// Serves one request: a Binding, a touch, a mark, a removal or a read of one of the pods; or a
  /// create, a replace, a read or a list of GangDecisions.
  protocol::answered serve(std::uint64_t id, const protocol::http_request& request);
  /// A user deletes a pod: it is gone at once.
  void remove(std::size_t n) { all_.at(n).is_gone = true; }
  /// Whoever is being deleted has stopped.
  void depart(std::size_t n) { all_.at(n).is_gone = true; }

  const std::array<pod, pods_most>& all() const { return all_; }
  /// What stands in a gang's GangDecision; null if there is none.
  const protocol::decision_ptr& decision(std::size_t gang) const { return objects_.at(gang).what; }
  std::uint64_t state_hash() const;

private:
  struct object {
    std::shared_ptr<const std::string> body; // null: not there
    protocol::decision_ptr what;
    std::uint64_t version = 0;
  };

  protocol::answered serve_decision(std::uint64_t id, const protocol::http_request& request);
  static void write(object& x, const std::string& body);
  protocol::answered serve_patch(std::uint64_t id, std::size_t n,
                                 const protocol::http_request& request);
  protocol::answered serve_removal(std::uint64_t id, std::size_t n,
                                   const protocol::http_request& request);

  std::array<pod, pods_most> all_;
  std::array<object, gangs_most> objects_;
};

/// True if it is about a GangDecision, or a list of all.
bool is_about_decisions(const protocol::http_request& request);

/// The pod that a request is about, and what is asked.
struct target {
  std::size_t pod = 0;
  bool is_binding = false;
};
target target_of(const protocol::http_request& request);
/// "target.name" of a Binding.
std::string node_of(const protocol::http_request& binding);

} // namespace tutti::chaos::small
