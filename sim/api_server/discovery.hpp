// What a client can find out about the server itself: groups, versions, resources, health, schemas.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "sim/api_server/catalog.hpp"
#include "sim/api_server/request.hpp"

namespace tutti::sim::api_server {

class discovery {
public:
  explicit discovery(const catalog& kinds);

  /// The answer to a GET of one of its paths; nothing for all others.
  std::optional<response> find(const target& path, std::string_view accept) const;

private:
  struct page {
    std::string plain;
    std::string aggregated; ///< empty: there is no such form
  };
  using pages = std::map<std::string, page, std::less<>>;
  static pages pages_of(const catalog& kinds);

  release release_;
  std::shared_ptr<const pages> pages_; ///< made once per release: a simulation starts many servers
};

} // namespace tutti::sim::api_server
