// The twin is asked one batch after the other, and every state on the way is kept.
#include "tests/persistence/expected_store.hpp"

#include <algorithm>
#include <utility>

#include "tests/persistence/store_fixture.hpp"

namespace tutti::persistence::testing {

namespace {

std::string lasting_story_on(const disk& image) {
  return lasting_story_of(memory_store::open(image).value()->take_remains());
}

/// The same in all that matters from here on. `meta` counts lives and batches, which the twin has
/// more of than the store.
bool is_alike(const disk& a, const disk& b) {
  for (const auto x : {family::journal, family::decisions, family::checkpoint})
    if (a.of(x) != b.of(x))
      return false;
  return true;
}

/// `image` after one more request, and whether that one had to be synced.
std::pair<disk, bool> with(const disk& image, const request& r) {
  auto it = memory_store::open(image).value();
  const auto before = it->counted().syncs;
  it->submit(r, [](const base::result<outcome>&) {});
  it->run_all();
  const bool is_synced = it->counted().syncs > before;
  it->close();
  return {it->durable(), is_synced};
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

void expected_store::asks(const std::vector<request>& all) {
  for (auto& b : branches_)
    for (const auto& r : all) {
      auto [image, is_synced] = with(b.states.back(), r);
      b.states.push_back(std::move(image));
      b.is_synced.push_back(is_synced);
    }
}

void expected_store::is_acknowledged(std::size_t but_the_last) {
  for (auto& b : branches_)
    for (auto i = b.durable; i + but_the_last < b.states.size(); ++i)
      if (b.is_synced[i])
        b.durable = i;
}

journal_index expected_store::last_index() const {
  const auto& meta = branches_.front().states.back().of(family::meta);
  const auto pos = meta.find(std::string{meta_key::tail});
  return pos == meta.end() ? 0 : read_tail(pos->second).value().last;
}

bool expected_store::accepts(const remains& found) {
  const auto story = lasting_story_of(found);
  std::vector<branch> left;
  for (const auto& b : branches_)
    for (auto i = b.durable; i < b.states.size(); ++i) {
      const auto is_known = [&](const branch& x) {
        return is_alike(x.states.front(), b.states[i]);
      };
      if (lasting_story_on(b.states[i]) == story
          && std::none_of(left.begin(), left.end(), is_known))
        left.push_back({{b.states[i]}});
    }
  if (left.empty())
    return false;
  branches_ = std::move(left);
  return true;
}

std::string expected_store::story() const {
  std::string out;
  for (const auto& b : branches_)
    for (auto i = b.durable; i < b.states.size(); ++i)
      out += fmt::format("---- with {} of {} requests\n{}", i, b.states.size() - 1,
                         lasting_story_on(b.states[i]));
  return out;
}

} // namespace tutti::persistence::testing
