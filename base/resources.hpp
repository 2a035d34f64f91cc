// Exact amounts of what a node offers and a pod asks for.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <boost/container/small_vector.hpp>

#include "base/result.hpp"
#include "base/symbol.hpp"

namespace tutti::base {

/// Milli-CPU, bytes, pods, and pieces of whatever else nodes offer. Exact integers: no rounding, no
/// floating point. Amounts read from outside stay at or below `limits::amount_max` (the decoder
/// saturates or refuses), so that sums over the pods of one node cannot wrap: see `checked_add`.
struct resources {
  struct extended_amount {
    symbol name; ///< full name, e.g. "nvidia.com/gpu"
    std::int64_t amount = 0;

    friend bool operator==(const extended_amount&, const extended_amount&) = default;
  };
  using extended_list = boost::container::small_vector<extended_amount, 1>;

  std::int64_t cpu_milli = 0;
  std::int64_t memory_bytes = 0;
  std::int64_t ephemeral_bytes = 0;
  std::int64_t pods = 0;
  extended_list extended; ///< ascending by name, no zero amounts

  /// Amount of an extended resource; 0 if there is none.
  std::int64_t of(symbol name) const;
  /// Sets the amount of an extended resource and keeps the list sorted and free of zeros.
  void set(symbol name, std::int64_t amount);

  resources& operator+=(const resources& x);
  resources& operator-=(const resources& x);
  friend resources operator+(resources a, const resources& b) { return a += b; }
  friend resources operator-(resources a, const resources& b) { return a -= b; }
  friend bool operator==(const resources&, const resources&) = default;
};

/// a + b, each amount saturated at the bounds of int64. Never wraps.
std::int64_t checked_add(std::int64_t a, std::int64_t b);

/// The first resource of `need` for which there is not enough in `room`. An amount that is not
/// asked for always fits, even into a node that is over-used in it (Kubernetes: a request of zero
/// is never refused). `name` is empty if all fits.
struct shortage {
  std::string name; ///< "cpu", "memory", "ephemeral-storage", "pods" or the extended name
  std::int64_t need = 0;
  std::int64_t room = 0;

  bool fits() const { return name.empty(); }
  friend bool operator==(const shortage&, const shortage&) = default;
};
shortage first_shortage(const resources& need, const resources& room);
bool fits(const resources& need, const resources& room);

/// "cpu 3, memory 2Gi, pods 1, nvidia.com/gpu 8": what is not zero, for people.
std::string to_text(const resources& x);
/// One amount of the named resource as people write it: cpu in cores ("1500m", "3"), memory and
/// ephemeral-storage in binary units if they divide ("2Gi"), everything else plain.
std::string amount_text(std::string_view name, std::int64_t amount);

/// A port of the node that a pod takes for itself.
struct host_port {
  symbol ip;       ///< "0.0.0.0" or "" takes the port on every address
  symbol protocol; ///< "TCP", "UDP", "SCTP"
  std::int32_t port = 0;

  friend auto operator<=>(const host_port&, const host_port&) = default;
};
/// True if both cannot be on one node: same protocol and port, and equal or wildcard addresses.
bool collide(const host_port& a, const host_port& b);
using port_list = boost::container::small_vector<host_port, 1>;

/// All that a pod takes from the node it runs on.
struct footprint {
  resources amounts; ///< includes pods = 1
  port_list ports;

  friend bool operator==(const footprint&, const footprint&) = default;
};

} // namespace tutti::base
