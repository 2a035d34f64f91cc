// What the server says about conditions, remembered in a few bytes each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_set.hpp>

namespace tutti::bridge {

/// Stands for texts where only their equality is asked: 128 bits, the same in every process.
struct digest {
  std::uint64_t a = 0;
  std::uint64_t b = 0;

  friend bool operator==(const digest&, const digest&) = default;
};
struct digest_hash {
  std::size_t operator()(const digest& x) const { return x.a ^ x.b; }
};
/// Texts that are cut at different places have different digests.
digest digest_of(std::initializer_list<std::string_view> texts);

/// One condition of one object as the server has it.
struct known_condition {
  bool is_there = false; ///< else the object has no such condition
  bool status = false;
  bool is_bound = false; ///< the object is a pod that has a node
  digest words;          ///< of reason and message
  std::string since;     ///< its lastTransitionTime; empty if there is none
  std::string resource_version;

  friend bool operator==(const known_condition&, const known_condition&) = default;
};

/// A gang of three that waits has four conditions with the same long text. To write none of them
/// twice, only this must be known of each: whether the new text equals the one that is there, and
/// what a PATCH carries besides. That is 64 bytes and an index, however long the text.
///
/// Remembers the last `limit` conditions that were kept or looked at. What has no short form (a
/// time with a fraction, a version that is no number) is not remembered at all. Not thread-safe.
class condition_memory {
public:
  explicit condition_memory(std::size_t limit) : limit_(limit) {}
  condition_memory(const condition_memory&) = delete;
  condition_memory& operator=(const condition_memory&) = delete;

  /// Remembers `what` under `key`, in place of what was there.
  void keep(const digest& key, const known_condition& what);
  /// Nothing if it is not remembered. Counts as a use.
  std::optional<known_condition> look(const digest& key);
  void forget(const digest& key);
  std::size_t size() const { return index_.size(); }

private:
  using place = std::uint32_t;
  static constexpr place nowhere = ~place{0};

  struct slot {
    digest key;
    digest words;
    std::int64_t since_s = 0; ///< seconds since 1970
    std::uint64_t version = 0;
    place newer = nowhere; ///< in the order of use
    place older = nowhere;
    bool has_since : 1 = false;
    bool is_there : 1 = false;
    bool status : 1 = false;
    bool is_bound : 1 = false;
  };
  struct hash {
    using is_transparent = void;
    const std::deque<slot>* slots;
    std::size_t operator()(const digest& x) const { return digest_hash{}(x); }
    std::size_t operator()(place x) const { return (*this)((*slots)[x].key); }
  };
  struct equal {
    using is_transparent = void;
    const std::deque<slot>* slots;
    bool operator()(place x, place y) const { return x == y; }
    bool operator()(const digest& x, place y) const { return x == (*slots)[y].key; }
    bool operator()(place x, const digest& y) const { return (*slots)[x].key == y; }
  };

  void link(place x);
  void unlink(place x);
  void drop(place x);

  const std::size_t limit_;
  std::deque<slot> slots_; // never moves what is in it
  std::vector<place> free_;
  boost::unordered_flat_set<place, hash, equal> index_{0, hash{&slots_}, equal{&slots_}};
  place newest_ = nowhere;
  place oldest_ = nowhere;
};

} // namespace tutti::bridge
