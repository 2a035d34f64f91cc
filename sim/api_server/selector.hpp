// labelSelector and fieldSelector of list and watch.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/terms.hpp"
#include "sim/api_server/object.hpp"
#include "sim/api_server/refusal.hpp"

namespace tutti::sim::api_server {

/// Both selectors of one request. Empty selectors match everything.
class selector {
public:
  /// 400 for what cannot be read and for fields that the kind does not offer.
  static outcome<selector> parse(const kind_info& kind, std::string_view labels,
                                 std::string_view fields);

  bool matches(const object& x) const;
  bool matches_all() const { return labels_.empty() && fields_.empty(); }

private:
  struct field_term {
    std::string path;
    std::string value;
    bool is_equal = true;
  };

  bool holds(const field_term& term, const object& x) const;

  kind_id kind_ = kind_id::pods;
  std::vector<api::label_requirement> labels_;
  std::vector<field_term> fields_;
};

} // namespace tutti::sim::api_server
