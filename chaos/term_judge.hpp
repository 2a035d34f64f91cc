// Whether terms among pods hold, by their words alone: the judge's own reading, which shares
// nothing with the engine that places.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "api/ties.hpp"

namespace tutti::chaos {

/// A pod where it stands, or stood a moment ago.
struct standing {
  std::string uid;
  std::string name;
  const api::pod_ties* ties = nullptr;
  const std::map<std::string, std::string>* labels = nullptr; ///< of its node
  /// Whoever placed others may not have seen it there, or may have seen it go: it neither breaks a
  /// term nor is missed by one.
  bool is_uncertain = false;
};

/// The nodes whose domains count for spread, because everybody knows them.
using domain_labels = std::vector<const std::map<std::string, std::string>*>;

/// What of the required terms between `who` and `all` (which has `who` too) is broken, in words;
/// nothing if they hold, or if that is not certain.
std::optional<std::string> broken_term(const standing& who, const std::vector<standing>& all,
                                       const domain_labels& domains);

} // namespace tutti::chaos
