// The canonical bytes of shapes and classes.
//
//     blob     := kind version body            kind: 'S' shape, 'C' class; version: one byte
//     shape    := pairs flag terms preferred tolerations text
//     class    := pairs taints flag
// Numbers, texts and lists: blob_bytes.hpp.
//
// A change of any body is a new version. Older ones stay readable.
#include "api/terms.hpp"

#include <algorithm>
#include <memory>

#include "api/blob_bytes.hpp"
#include "base/ensure.hpp"

namespace tutti::api {
namespace {

using namespace blob;

constexpr char shape_kind = 'S';
constexpr char class_kind = 'C';
constexpr unsigned char format_version = 1;

// ---- writing ----

void put_term(std::string& out, const node_term& x) {
  put_list(out, x.labels, order::sorted_unique, put_requirement);
  put_list(out, x.fields, order::sorted_unique, put_requirement);
}

bool is_empty(const node_term& x) {
  return x.labels.empty() && x.fields.empty();
}

/// Terms that match nothing are left out: they cannot be the one that holds.
void put_required(std::string& out, const node_term& x) {
  if (!is_empty(x))
    put_term(out, x);
}

void put_preferred(std::string& out, const preferred_term& x) {
  if (x.weight == 0 || is_empty(x.term))
    return;
  put_signed(out, x.weight);
  put_term(out, x.term);
}

void put_toleration(std::string& out, const toleration& x) {
  put_text(out, x.key);
  put_flag(out, x.is_exists);
  put_text(out, x.is_exists ? std::string{} : x.value);
  put_flag(out, x.any_effect);
  out += static_cast<char>(x.any_effect ? taint_effect::no_schedule : x.effect);
}

void put_taint(std::string& out, const taint& x) {
  put_text(out, x.key);
  put_text(out, x.value);
  out += static_cast<char>(x.effect);
}

std::string encode(const shape_terms& x) {
  std::string out{shape_kind, static_cast<char>(format_version)};
  put_pairs(out, x.selector);
  put_flag(out, x.has_required);
  put_list(out, x.required, order::sorted_unique, put_required);
  put_list(out, x.preferred, order::sorted, put_preferred); // equal ones add up
  put_list(out, x.tolerations, order::sorted_unique, put_toleration);
  put_text(out, x.node_name);
  return out;
}

std::string encode(const class_terms& x) {
  std::string out{class_kind, static_cast<char>(format_version)};
  put_pairs(out, x.labels);
  put_list(out, x.taints, order::kept, put_taint); // the first one is the one that is reported
  put_flag(out, x.unschedulable);
  return out;
}

std::string encode(const base::footprint& x) {
  std::string out;
  for (auto amount :
       {x.amounts.cpu_milli, x.amounts.memory_bytes, x.amounts.ephemeral_bytes, x.amounts.pods})
    put_signed(out, amount);
  put_list(out, x.amounts.extended, order::kept, [](std::string& bytes, const auto& e) {
    put_text(bytes, e.name.text());
    put_signed(bytes, e.amount);
  });
  put_list(out, x.ports, order::kept, [](std::string& bytes, const base::host_port& p) {
    put_text(bytes, p.ip.text());
    put_text(bytes, p.protocol.text());
    put_signed(bytes, p.port);
  });
  return out;
}

// ---- reading ----

node_term take_term(reader& in) {
  node_term out;
  out.labels = in.list(take_requirement);
  out.fields = in.list(take_requirement);
  return out;
}

preferred_term take_preferred(reader& in) {
  auto weight = in.weight();
  return {weight, take_term(in)};
}

taint_effect take_effect(reader& in) {
  return in.choice<taint_effect>(static_cast<unsigned>(taint_effect::no_execute));
}

toleration take_toleration(reader& in) {
  toleration out;
  out.key = in.text();
  out.is_exists = in.flag();
  out.value = in.text();
  out.any_effect = in.flag();
  out.effect = take_effect(in);
  return out;
}

taint take_taint(reader& in) {
  taint out;
  out.key = in.text();
  out.value = in.text();
  out.effect = take_effect(in);
  return out;
}

} // namespace

base::shape_ptr make_shape(const shape_terms& terms, const base::footprint& takes) {
  auto out = std::make_shared<base::shape>();
  out->blob = encode(terms);
  out->takes = takes;
  std::sort(out->takes.ports.begin(), out->takes.ports.end());
  out->id.value = base::hash_combine(base::hash_of(out->blob), base::hash_of(encode(out->takes)));
  ensure_slow(decode_shape(out->blob).has_value());
  return out;
}

base::node_class_ptr make_class(const class_terms& terms) {
  auto out = std::make_shared<base::node_class>();
  out->blob = encode(terms);
  out->id.value = base::hash_of(out->blob);
  ensure_slow(decode_class(out->blob).has_value());
  return out;
}

base::result<shape_terms> decode_shape(std::string_view blob) {
  auto body = body_of(blob, {shape_kind, format_version, "shape"});
  if (!body)
    return body.error();
  reader in(*body);
  shape_terms out;
  out.selector = in.list(take_pair);
  out.has_required = in.flag();
  out.required = in.list(take_term);
  out.preferred = in.list(take_preferred);
  out.tolerations = in.list(take_toleration);
  out.node_name = in.text();
  if (!in.is_done())
    return broken("shape");
  return out;
}

base::result<class_terms> decode_class(std::string_view blob) {
  auto body = body_of(blob, {class_kind, format_version, "node class"});
  if (!body)
    return body.error();
  reader in(*body);
  class_terms out;
  out.labels = in.list(take_pair);
  out.taints = in.list(take_taint);
  out.unschedulable = in.flag();
  if (!in.is_done())
    return broken("node class");
  return out;
}

} // namespace tutti::api
