// Words for pods that are tied to each other: `pod("web").apart("host")`.
#pragma once

#include <string>
#include <vector>

#include "tests/placement/engine/cluster.hpp"

namespace tutti::placement::engine::testing {

inline constexpr const char* host_key = "kubernetes.io/hostname";

inline api::label_selector app_is(const std::string& app) {
  return {{{"app", api::label_requirement::operation::in, {app}}}, false};
}

/// Ties of a pod with the label app; terms mean pods of namespace "shop".
struct tied_words {
  api::pod_ties x;

  explicit tied_words(const std::string& app) {
    x.space = "shop";
    x.labels = {{"app", app}};
  }
  static api::pod_term term(const std::string& app, const std::string& key) {
    return {key, app_is(app), {"shop"}, std::nullopt};
  }
  tied_words& label(const std::string& key, const std::string& value) {
    x.labels.emplace_back(key, value);
    return *this;
  }
  tied_words& apart(const std::string& app, const std::string& key) {
    x.anti_affinity.push_back(term(app, key));
    return *this;
  }
  tied_words& near(const std::string& app, const std::string& key) {
    x.affinity.push_back(term(app, key));
    return *this;
  }
  tied_words& spread(const std::string& app, const std::string& key, int skew = 1,
                     int min_domains = 1) {
    x.spread.push_back({skew, key, app_is(app), min_domains, true, true, false});
    return *this;
  }
  tied_words& wish_spread(const std::string& app, const std::string& key) {
    x.spread.push_back({1, key, app_is(app), 1, false, true, false});
    return *this;
  }
  tied_words& prefer(int weight, const std::string& app, const std::string& key) {
    x.preferred.push_back({weight, term(app, key)});
    return *this;
  }
  operator base::ties_ptr() const { return api::make_ties(x); }
};

inline tied_words pod(const std::string& app) {
  return tied_words{app};
}

/// Gives the members added since the last call these ties.
inline gang_spec& tie(gang_spec& what, const base::ties_ptr& ties) {
  for (auto& m : what.members)
    if (!m.ties)
      m.ties = ties;
  return what;
}
inline gang_words tied_gang(int n, const pod_words& like, const base::ties_ptr& ties,
                            std::string key = {}) {
  auto out = gang_of(n, like, std::move(key));
  tie(out.what, ties);
  return out;
}

/// Reports pods on a node in addition to what its words say.
inline void put(cluster& c, const node_words& node, std::vector<base::tied_pods> pods) {
  auto x = state_of(node);
  std::sort(pods.begin(), pods.end(),
            [](const auto& a, const auto& b) { return a.kind->id < b.kind->id; });
  x.pods = std::move(pods);
  c.view.upsert(x);
}

} // namespace tutti::placement::engine::testing
