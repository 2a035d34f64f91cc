// The partition map object: who owns which shard and coordinator partition, and who should.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <boost/json/fwd.hpp>

#include "base/ids.hpp"
#include "base/result.hpp"
#include "protocol/address.hpp"
#include "protocol/ownership.hpp"

namespace tutti::bridge {

/// The units of a map, one after the other; a range for `for`, made as it is walked.
class unit_range {
public:
  class iterator {
  public:
    iterator(std::uint32_t at, std::uint32_t shards) : at_(at), shards_(shards) {}
    protocol::address operator*() const {
      return at_ < shards_ ? protocol::to_shard({at_}) : protocol::to_partition({at_ - shards_});
    }
    iterator& operator++() {
      ++at_;
      return *this;
    }
    friend bool operator==(const iterator&, const iterator&) = default;

  private:
    std::uint32_t at_;
    std::uint32_t shards_;
  };

  unit_range(std::size_t shards, std::size_t partitions)
      : shards_(static_cast<std::uint32_t>(shards)),
        all_(static_cast<std::uint32_t>(shards + partitions)) {}
  iterator begin() const { return {0, shards_}; }
  iterator end() const { return {all_, shards_}; }

private:
  std::uint32_t shards_;
  std::uint32_t all_;
};

/// Replicas share out shards and partitions without talking to each other: each computes from the
/// same map and the same set of living replicas who is to have what (rendezvous hashing: the
/// highest hash of replica and unit wins), and changes the map by compare-and-set only where it is
/// concerned itself. So a replica that comes or goes moves its own share and nothing else. All here
/// is pure.
///
/// A unit is a shard or a partition, named by its address.
struct partition_map {
  std::vector<protocol::owner> shards;
  std::vector<protocol::owner> partitions;

  /// `unit` must be one of the map's.
  protocol::owner& at(const protocol::address& unit);
  const protocol::owner& at(const protocol::address& unit) const;
  /// Shards, then partitions, ascending.
  unit_range units() const;

  friend bool operator==(const partition_map&, const partition_map&) = default;
};

/// A map of this many units that nobody owns and nobody has owned.
partition_map empty_map(std::size_t shards, std::size_t partitions);

/// `spec` of the object: {"shards": [{"replica": "a", "epoch": 3}, …], "partitions": […]}.
boost::json::object spec_of(const partition_map& map);

/// Reads a spec that must have exactly as many shards and partitions as `like`. `bad_input`, naming
/// the field, if anything is missing, of another type, out of range or of no sense: nobody may
/// guess who owns what.
base::result<partition_map> read_spec(const boost::json::object& spec, const partition_map& like);

/// Who is to own the unit, of `live` replicas (at least one).
const std::string& chosen_for(const protocol::address& unit, const std::set<std::string>& live);

/// What one replica changes in the map.
struct map_change {
  partition_map next;
  std::vector<protocol::address> taken; ///< with a new epoch, to begin after a list
  std::vector<protocol::address> given; ///< nobody owns them now, the epoch stays

  bool is_empty() const { return taken.empty() && given.empty(); }
};

/// Units that a replica must begin anew although it owns them, each under at least this epoch:
/// those of an earlier life of it, or of an actor that died.
using units_anew = std::map<protocol::address, base::epoch_no>;

/// The next step of `self`, which must be one of `live`:
///
///     owned by self, chosen for self or for a dead one   stays (anew: a higher epoch)
///     owned by self, chosen for another live replica     given up
///     owned by a dead replica or nobody, chosen for self taken under a higher epoch
///     all else                                           is not ours to change
///
/// Epochs never fall (S8), and grow with every change of owner.
map_change next_map(const partition_map& now, const std::string& self,
                    const std::set<std::string>& live, const units_anew& anew = {});

/// True if `next_map` of the same is empty; cheaper, for it is asked after every event.
bool is_settled(const partition_map& now, const std::string& self,
                const std::set<std::string>& live, const units_anew& anew);

/// Everything that `self` owns given up, as at an orderly stop.
map_change map_without(const partition_map& now, const std::string& self);

} // namespace tutti::bridge
