// Compare-and-set on one Lease.
#include "bridge/own_lease.hpp"

#include <algorithm>
#include <chrono>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <fmt/core.h>

#include "base/ensure.hpp"
#include "bridge/json_read.hpp"
#include "bridge/limits.hpp"
#include "bridge/pod_requests.hpp"
#include "bridge/verdicts.hpp"

namespace tutti::bridge {

namespace {

/// So often in a row a write that was refused is followed by a look at once. Rivals are not that
/// quick: what is refused then is refused for another reason.
constexpr int looks_most = 3;

} // namespace

std::string leases_path() {
  return "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
}

std::string lease_name(const std::string& replica) {
  return "tutti-" + replica;
}

bool own_lease::is_held(base::time_point now) const {
  return renewed_ && now < *renewed_ + options_.times.given_up;
}

base::time_point own_lease::held_until() const {
  ensure(renewed_.has_value());
  return *renewed_ + options_.times.given_up;
}

bool own_lease::must_wait(base::time_point now) const {
  if (!rival_)
    return false;
  const auto patience = rival_->is_alive ? options_.times.duration
                                         : std::min(options_.times.duration,
                                                    base::duration{limits::lease_former_life});
  return now < rival_->since + patience;
}

std::optional<protocol::http_request> own_lease::next(base::time_point now, base::wall_time wall) {
  if (is_open() || is_over_ || now < not_before_)
    return std::nullopt;
  if (is_ending_ && (is_absent_ || (is_known_ && !is_ours_))) {
    is_over_ = true;
    return std::nullopt;
  }
  asked_ = now;
  const auto path = leases_path() + "/" + lease_name(options_.replica);
  if (is_absent_) {
    step_ = step::creating;
    acquired_ = rfc3339_micro(wall);
    return protocol::http_request{
        .method = "POST", .target = leases_path(), .body = body(wall), .content_type = {}};
  }
  if (!is_known_ || must_wait(now)) {
    step_ = step::reading;
    return protocol::http_request{.method = "GET", .target = path, .body = {}, .content_type = {}};
  }
  step_ = step::writing;
  is_releasing_ = is_ending_;
  if (!is_ours_) {
    acquired_ = rfc3339_micro(wall);
    ++transitions_;
  }
  return protocol::http_request{
      .method = "PUT", .target = path, .body = body(wall), .content_type = {}};
}

std::string own_lease::body(base::wall_time wall) const {
  boost::json::object meta{{"name", lease_name(options_.replica)},
                           {"namespace", "kube-system"},
                           {"labels", {{replica_label, options_.replica}}}};
  if (!options_.link.empty())
    meta["annotations"] = {{link_annotation, options_.link}};
  if (!is_absent_)
    meta["resourceVersion"] = version_;
  const std::int64_t seconds =
      std::chrono::ceil<std::chrono::seconds>(options_.times.duration).count();
  boost::json::object spec{{"leaseDurationSeconds", seconds},
                           {"acquireTime", acquired_},
                           {"renewTime", rfc3339_micro(wall)},
                           {"leaseTransitions", transitions_}};
  if (!is_ending_) // an empty holder is refused; none at all is a Lease that nobody holds
    spec["holderIdentity"] = options_.holder;
  return boost::json::serialize(boost::json::object{{"apiVersion", "coordination.k8s.io/v1"},
                                                    {"kind", "Lease"},
                                                    {"metadata", std::move(meta)},
                                                    {"spec", std::move(spec)}});
}

bool own_lease::answer(int status, const std::string& body, base::time_point now) {
  ensure(is_open(), options_.replica);
  const auto was = std::exchange(step_, step::idle);
  const auto v = judge(was == step::reading ? operation::read : operation::patch, status, body);
  if (v == verdict::done && was == step::reading)
    return read(body, now);
  if (v == verdict::done) {
    const parsed_json parsed{body};
    const auto* object = parsed.object();
    const auto* meta = object ? object_at(*object, "metadata") : nullptr;
    version_ = meta ? text_at(*meta, "resourceVersion") : "";
    is_known_ = !version_.empty();
    is_absent_ = false;
    is_over_ = std::exchange(is_releasing_, false);
    is_ours_ = !is_over_;
    rival_.reset();
    problem_.clear();
    looks_ = 0;
    renewed_ = is_over_ ? std::nullopt : std::optional{asked_};
    return false;
  }
  is_known_ = is_releasing_ = false;
  if (was == step::reading && v == verdict::gone) {
    is_absent_ = true;
    is_ours_ = false;
    return true;
  }
  is_absent_ = false;
  if ((v == verdict::look || v == verdict::gone) && ++looks_ <= looks_most)
    return true; // somebody wrote or deleted it: read
  looks_ = 0;
  not_before_ = now + limits::lease_retry;
  problem_ = status == 0 ? "the API server does not answer about the Lease"
                         : fmt::format("the API server answers {} about the Lease", status);
  return false;
}

bool own_lease::read(const std::string& body, base::time_point now) {
  const parsed_json parsed{body};
  const auto* object = parsed.object();
  const auto* meta = object ? object_at(*object, "metadata") : nullptr;
  const auto* spec = object ? object_at(*object, "spec") : nullptr;
  if (!meta || text_at(*meta, "resourceVersion").empty()) {
    problem_ = "the Lease cannot be read";
    return false;
  }
  is_known_ = true;
  is_absent_ = false;
  version_ = text_at(*meta, "resourceVersion");
  const auto holder = spec ? std::string{text_at(*spec, "holderIdentity")} : std::string{};
  const auto* turns = spec ? spec->if_contains("leaseTransitions") : nullptr;
  transitions_ = turns && turns->is_int64() ? turns->get_int64() : 0;
  const bool was_ours = std::exchange(is_ours_, holder == options_.holder);
  if (is_ours_) {
    acquired_ = text_at(*spec, "acquireTime");
    rival_.reset();
    return true;
  }
  if (was_ours)
    renewed_.reset(); // taken from us: whoever did it lives
  if (holder.empty()) {
    rival_.reset();
    return true;
  }
  see_rival(holder, version_, now);
  if (was_ours)
    rival_->is_alive = true;
  return !must_wait(now);
}

void own_lease::see_rival(std::string holder, std::string version, base::time_point now) {
  if (!rival_)
    rival_ = rival{std::move(version), now, false};
  else if (rival_->version != version)
    *rival_ = {std::move(version), now, true};
  problem_ =
      fmt::format("the name {} is in the Lease of another process, {}", options_.replica, holder);
}

} // namespace tutti::bridge
