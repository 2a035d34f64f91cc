#include "sim/api_server/rehearsal.hpp"

namespace tutti::sim::api_server {

base::result<void> rehearse(const control_plane& like, const control_plane::options& how,
                            const base::clock& time, const std::vector<json::object>& objects,
                            const std::vector<std::string>& places, const base::step_watch& watch) {
  control_plane copy{how, time};
  const auto& from = like.objects();
  for (std::size_t k = 0; k < kind_count; ++k) {
    const auto kind = static_cast<kind_id>(k);
    for (const auto& [key, x] : from.all(kind))
      copy.objects().restore(kind, x);
  }
  copy.objects().restored(from.last());
  if (auto done = copy.apply(objects, places, watch); !done)
    return done.error();
  return {};
}

} // namespace tutti::sim::api_server
