#include "sim/workload/source.hpp"

#include <fmt/format.h>

#include "base/ensure.hpp"
#include "sim/api_server/run_for.hpp"

namespace tutti::sim::workload {

namespace {

constexpr const char* client_name = "users";
/// Requests without an answer: enough to keep the network busy, and few enough that a gang of
/// thousands does not stand in the way of the scheduler's own.
constexpr std::size_t window = 64;

constexpr std::string_view groups_path =
    "/apis/scheduling.k8s.io/v1beta1/namespaces/default/podgroups";
constexpr std::string_view pods_path = "/api/v1/namespaces/default/pods";

std::string requests_text(const member_need& x) {
  std::string out;
  if (x.gpus > 0)
    out += fmt::format(R"("{}":"{}")", gpu_resource, x.gpus);
  if (x.cpu_milli > 0)
    out += fmt::format(R"({}"cpu":"{}m")", out.empty() ? "" : ",", x.cpu_milli);
  return out;
}

std::string group_body(const std::string& name, const arrival& x, const std::string& key) {
  const auto constraint =
      key.empty() ? std::string{}
                  : fmt::format(R"(,"schedulingConstraints":{{"topology":[{{"key":"{}"}}]}})", key);
  return fmt::format(
      R"({{"apiVersion":"scheduling.k8s.io/v1beta1","kind":"PodGroup","metadata":{{"name":"{}"}},)"
      R"("spec":{{"schedulingPolicy":{{"gang":{{"minCount":{}}}}}{}}}}})",
      name, x.members, constraint);
}

std::string pod_body(const std::string& gang, std::uint32_t member, const arrival& x) {
  const auto group =
      x.members > 1 ? fmt::format(R"("schedulingGroup":{{"podGroupName":"{}"}},)", gang) : "";
  const auto asks = requests_text(x.each);
  const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(x.runs_for).count();
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"{}-{}","annotations":)"
      R"({{"{}":"{}ms"}}}},"spec":{{{}"restartPolicy":"Never","containers":[{{"name":"main",)"
      R"("image":"work","resources":{{"requests":{{{}}},"limits":{{{}}}}}}}]}}}})",
      gang, member, api_server::run_for_annotation, std::max<std::int64_t>(ms, 1), group, asks,
      asks);
}

} // namespace

source::source(world& where, gang_book& book, const cluster_shape& shape, options how)
    : where_(where), book_(book), shape_(shape), how_(std::move(how)),
      to_delete_(book.gangs().size(), 0) {
  book_.on_over([this](std::size_t gang) { clean_up(gang); });
}

void source::begin() {
  wait_for_next();
}

bool source::is_idle() const {
  return next_ == book_.gangs().size() && orders_.empty() && under_way_ == 0;
}

void source::wait_for_next() {
  if (next_ == book_.gangs().size())
    return;
  where_.time().at(how_.begins + book_.gangs()[next_].what.at, [this] {
    submit(next_++);
    wait_for_next();
  });
}

void source::submit(std::size_t gang) {
  const auto number = static_cast<std::uint32_t>(gang);
  const bool is_lone = book_.gangs()[gang].what.members == 1;
  orders_.push_back({is_lone ? wish::create_pod : wish::create_group, number, 0});
  send_more();
}

/// Comes while the API server is at work: nothing is sent before its turn is over.
void source::clean_up(std::size_t gang) {
  const auto members = book_.gangs()[gang].what.members;
  to_delete_[gang] = members;
  for (std::uint32_t member = 0; member < members; ++member)
    orders_.push_back({wish::delete_pod, static_cast<std::uint32_t>(gang), member});
  where_.time().after({}, [this] { send_more(); });
}

void source::send_more() {
  while (under_way_ < window && !orders_.empty()) {
    const auto x = orders_.front();
    orders_.pop_front();
    send(x);
  }
}

void source::send(const order& x) {
  ++under_way_;
  ++requests_;
  where_.api().start(client_name, requests_, request_of(x),
                     [this, x](const protocol::event& e) { answered(x, e); });
}

void source::answered(const order& x, const protocol::event& e) {
  --under_way_;
  const auto* answer = std::get_if<protocol::answered>(&e);
  if (answer == nullptr || answer->status < 200 || answer->status > 299) {
    if (refusals_++ == 0)
      first_refusal_ = answer != nullptr ? answer->body : "the connection broke";
  }
  const auto members = book_.gangs()[x.gang].what.members;
  if (x.what == wish::create_group)
    for (std::uint32_t member = 0; member < members; ++member)
      orders_.push_back({wish::create_pod, x.gang, member});
  else if (x.what == wish::delete_pod && --to_delete_[x.gang] == 0 && members > 1)
    orders_.push_back({wish::delete_group, x.gang, 0});
  send_more();
}

bool source::stays_together(const arrival& x) const {
  return !how_.together_key.empty() && x.members <= shape_.room_for(x.each, how_.together_nodes);
}

protocol::http_request source::request_of(const order& x) const {
  const auto& life = book_.gangs()[x.gang];
  const auto gang = gang_name(x.gang);
  switch (x.what) {
  case wish::create_group:
    return {.method = "POST",
            .target = std::string{groups_path},
            .body =
                group_body(gang, life.what, stays_together(life.what) ? how_.together_key : "")};
  case wish::create_pod:
    return {.method = "POST",
            .target = std::string{pods_path},
            .body = pod_body(gang, x.member, life.what)};
  case wish::delete_pod:
    return {.method = "DELETE", .target = fmt::format("{}/{}-{}", pods_path, gang, x.member)};
  case wish::delete_group:
    return {.method = "DELETE", .target = fmt::format("{}/{}", groups_path, gang)};
  }
  ensure(false, static_cast<int>(x.what));
  return {};
}

} // namespace tutti::sim::workload
