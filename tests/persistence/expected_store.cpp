// The twin is asked one batch after the other, and every state on the way is kept.
#include "tests/persistence/expected_store.hpp"

#include "tests/persistence/store_fixture.hpp"

namespace tutti::persistence::testing {

namespace {

std::string lasting_story_on(const disk& image) {
  return lasting_story_of(memory_store::open(image).value()->take_remains());
}

/// `image` after one more batch, and whether that one had to be synced.
std::pair<disk, bool> with(const disk& image, const std::vector<request>& batch) {
  auto it = memory_store::open(image).value();
  const auto before = it->counted().syncs;
  for (const auto& r : batch)
    it->submit(r, [](const base::result<outcome>&) {});
  it->close();
  return {it->durable(), it->counted().syncs > before};
}

} // namespace

std::string lasting_story_of(const remains& x) {
  const auto all = story_of(x);
  std::string out;
  for (auto at = all.find('\n') + 1; at < all.size();) {
    // A checkpoint of these tests is one letter, many times.
    const auto end = std::min(all.find_first_not_of(all[at], at), all.size());
    constexpr std::size_t long_run = 9;
    out += end - at < long_run ? all.substr(at, end - at) : fmt::format("{}*{}", all[at], end - at);
    at = end;
  }
  return out;
}

void expected_store::asks(const std::vector<request>& batch) {
  const auto [image, is_synced] = with(states_.back(), batch);
  states_.push_back(image);
  last_needs_sync_ = is_synced;
}

void expected_store::is_acknowledged() {
  if (last_needs_sync_)
    durable_ = states_.size() - 1;
}

journal_index expected_store::last_index() const {
  const auto& meta = states_.back().of(family::meta);
  const auto pos = meta.find(std::string{meta_key::tail});
  return pos == meta.end() ? 0 : read_tail(pos->second).value().last;
}

bool expected_store::accepts(const remains& found) {
  const auto story = lasting_story_of(found);
  for (auto i = durable_; i < states_.size(); ++i)
    if (lasting_story_on(states_[i]) == story) {
      states_ = {disk{states_[i]}};
      durable_ = 0;
      return true;
    }
  return false;
}

std::string expected_store::story() const {
  std::string out;
  for (auto i = durable_; i < states_.size(); ++i)
    out += fmt::format("---- with {} of {} batches\n{}", i, states_.size() - 1,
                       lasting_story_on(states_[i]));
  return out;
}

} // namespace tutti::persistence::testing
