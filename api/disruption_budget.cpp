#include "api/disruption_budget.hpp"

#include <boost/json/object.hpp>

#include "api/decode_parts.hpp"

namespace tutti::api {

base::result<disruption_budget> decode_disruption_budget(const boost::json::object& object) {
  auto out = decode_whole(object, [](const cursor& root) {
    disruption_budget x;
    x.meta = read_meta(root);
    x.allowed = root["status"]["disruptionsAllowed"].integer();
    root["status"]["disruptedPods"].members(
        [&](std::string_view name, const cursor&) { x.disrupted.emplace(name); });
    return x;
  });
  if (!out)
    return out;
  const auto* spec = object.if_contains("spec");
  const auto* selector =
      spec != nullptr && spec->is_object() ? spec->get_object().if_contains("selector") : nullptr;
  if (selector == nullptr)
    return out;
  auto pods = decode_label_selector(*selector);
  if (!pods)
    return pods.error();
  out->pods = std::move(*pods);
  return out;
}

} // namespace tutti::api
