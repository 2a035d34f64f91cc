// The API server of the small world: two pods and the gang's decision, and what is asked about
// them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "protocol/decision.hpp"
#include "protocol/events.hpp"
#include "protocol/http.hpp"

namespace tutti::chaos::small {

inline constexpr std::size_t pods = 2;

/// Plain values: a step copies all of it. Answers by the rules that the design relies on ("What
/// Binding gives us" in protocol/README.md), and by no others.
class api_truth {
public:
  struct pod {
    std::uint64_t version = 1;
    std::string node; ///< name; empty = not bound
    std::string fence;
    std::string touch;
    bool is_gone = false;

    friend bool operator==(const pod&, const pod&) = default;
  };

  static std::string name_of(std::size_t n) { return n == 0 ? "a" : "b"; }
  static std::string uid_of(std::size_t n) { return name_of(n) + "-uid"; }

  /// Serves one request: a Binding, a touch or a read of one of the pods; or a create, a replace, a
  /// read or a list of the gang's GangDecision.
  protocol::answered serve(std::uint64_t id, const protocol::http_request& request);
  /// A user deletes a pod: it is gone at once.
  void remove(std::size_t n) { all_.at(n).is_gone = true; }

  const std::array<pod, pods>& all() const { return all_; }
  /// What stands in the GangDecision; null if there is none.
  const protocol::decision_ptr& decision() const { return decision_; }
  std::uint64_t state_hash() const;

private:
  protocol::answered serve_decision(std::uint64_t id, const protocol::http_request& request);
  void write(const std::string& body);

  std::array<pod, pods> all_;
  std::shared_ptr<const std::string> object_; // the GangDecision
  protocol::decision_ptr decision_;
  std::uint64_t version_ = 0; // its
};

/// True if it is about the GangDecision, or a list of all.
bool is_about_decisions(const protocol::http_request& request);

/// The pod that a request is about, and whether it is a Binding.
struct target {
  std::size_t pod = 0;
  bool is_binding = false;
};
target target_of(const protocol::http_request& request);
/// "target.name" of a Binding.
std::string node_of(const protocol::http_request& binding);

} // namespace tutti::chaos::small
