// What a client can find out about the server itself: groups, versions, resources, health, schemas.
#pragma once

#include <map>
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
  release release_;
  std::map<std::string, page, std::less<>> pages_;
};

} // namespace tutti::sim::api_server
