// The table of all symbols of the process; what is in it stays.
#include "base/symbol.hpp"

#include <mutex>
#include <set>

namespace tutti::base {
namespace {

struct pool {
  std::mutex mutex;
  std::set<std::string, std::less<>> texts; // nodes never move
};

const std::string* intern(std::string_view text) {
  static auto* all = new pool; // never destroyed: symbols outlive every static
  std::lock_guard lock{all->mutex};
  auto pos = all->texts.find(text);
  if (pos == all->texts.end())
    pos = all->texts.emplace(text).first;
  return &*pos;
}

} // namespace

symbol::symbol() {
  static const auto* none = intern({});
  text_ = none;
}

symbol::symbol(std::string_view text) : text_(intern(text)) {}

} // namespace tutti::base
