// A server, a cache that watches it, and followers that watch the cache, through long random
// stories: whatever breaks, each follower ends up with what the server has, never trusts what
// nobody watches, and has of a list at least what was there when it asked.
#include <deque>
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "bridge/reflector.hpp"
#include "bridge/watch_cache.hpp"
#include "tests/bridge/exchange_fixture.hpp"
#include "tests/bridge/watch_words.hpp"

namespace tutti::bridge {
namespace {

using namespace std::chrono_literals;
using namespace watch_words;

/// An API server with one kind: objects, their history, and the exchanges that are open.
class server {
public:
  struct stream {
    std::uint64_t told = 0; ///< version
    bool is_new = true;
    bool lists = false;
  };

  void change(std::mt19937_64& dice) {
    const auto name = std::string(1, static_cast<char>('a' + dice() % 6));
    ++version_;
    auto pos = objects_.find(name);
    const bool is_there = pos != objects_.end();
    if (is_there && dice() % 3 == 0) {
      past_.push_back({version_, event("DELETED", object(name, version_, pos->second.first))});
      objects_.erase(pos);
      return;
    }
    const auto uid = is_there ? pos->second.first : name + std::to_string(version_);
    objects_[name] = {uid, version_};
    past_.push_back(
        {version_, event(is_there ? "MODIFIED" : "ADDED", object(name, version_, uid))});
  }
  /// Something else changes, of which this kind hears nothing.
  void pass() { ++version_; }
  void compact() { compacted_ = version_; }
  std::uint64_t version() const { return version_; }
  /// Name → version.
  std::map<std::string, std::uint64_t> content() const {
    std::map<std::string, std::uint64_t> out;
    for (const auto& [name, x] : objects_)
      out[name] = x.second;
    return out;
  }

  void take(const protocol::effects& from) {
    for (const auto& e : from.list())
      if (const auto* x = std::get_if<protocol::exchange>(&e))
        asked_.push_back(*x);
      else if (const auto* up = std::get_if<protocol::hang_up>(&e))
        hang_up(up->id);
      else if (const auto* timer = std::get_if<protocol::arm>(&e))
        timers.insert(timer->timer);
      else if (const auto* off = std::get_if<protocol::disarm>(&e))
        timers.erase(off->timer);
  }
  std::set<protocol::timer_id> timers;

  /// What the server says next, if anything.
  std::optional<protocol::event> next() {
    if (!asked_.empty()) {
      const auto x = asked_.front();
      asked_.pop_front();
      return answer(x);
    }
    for (auto& [id, s] : streams_)
      if (auto text = lines_of(s); !text.empty())
        return protocol::stream_lines{id, std::move(text)};
    return std::nullopt;
  }
  std::optional<protocol::event> bookmark_somewhere() {
    for (auto& [id, s] : streams_)
      if (!s.is_new && (past_.empty() || s.told >= past_.back().first))
        return protocol::stream_lines{id, bookmark(version_)};
    return std::nullopt;
  }
  std::optional<protocol::event> cut_somewhere(const std::string& why) {
    if (streams_.empty())
      return std::nullopt;
    const auto id = streams_.begin()->first;
    streams_.erase(id);
    return protocol::stream_closed{id, why};
  }
  std::optional<protocol::event> lose_an_answer() {
    if (asked_.empty())
      return std::nullopt;
    const auto id = asked_.front().id;
    asked_.pop_front();
    return protocol::answer_unknown{id, "lost"};
  }
  bool is_watched() const { return !streams_.empty(); }
  /// What a question that goes past the cache is answered.
  protocol::answered list_for(std::uint64_t id) const {
    std::vector<std::string> items;
    for (const auto& [name, o] : objects_)
      items.push_back(object(name, o.second, o.first));
    return {id, 200, page(items, version_)};
  }

private:
  std::string all() const {
    std::string out;
    for (const auto& [name, x] : objects_)
      out += event("ADDED", object(name, x.second, x.first));
    return out;
  }
  protocol::event answer(const protocol::exchange& x) {
    if (x.request.is_stream) {
      const auto wish = watch_wish_of(x.request);
      EXPECT_TRUE(wish) << x.request.target;
      const auto from = version_number(wish->version).value_or(0);
      if (!wish->lists && from < compacted_)
        return protocol::answered{x.id, 410, "{}"};
      streams_[x.id] = {from, true, wish->lists};
      return protocol::stream_opened{x.id};
    }
    const bool asks_a_version = x.request.target.ends_with("limit=1");
    return asks_a_version && !objects_.empty() ? protocol::answered{x.id, 200, page({}, version_)}
                                               : list_for(x.id);
  }
  std::string lines_of(stream& s) const {
    std::string out;
    if (std::exchange(s.is_new, false) && s.lists) {
      s.told = version_;
      return all() + bookmark(version_, true);
    }
    for (const auto& [version, line] : past_)
      if (version > s.told)
        out += line;
    s.told = past_.empty() ? s.told : std::max(s.told, past_.back().first);
    return out;
  }
  void hang_up(std::uint64_t id) {
    streams_.erase(id);
    std::erase_if(asked_, [id](const auto& x) { return x.id == id; });
  }

  std::map<std::string, std::pair<std::string, std::uint64_t>> objects_; // uid, version
  std::deque<std::pair<std::uint64_t, std::string>> past_;
  std::uint64_t version_ = 100;
  std::uint64_t compacted_ = 0;
  std::deque<protocol::exchange> asked_;
  std::map<std::uint64_t, stream> streams_;
};

/// A scheduler's reflector behind the cache.
struct one_follower {
  explicit one_follower(std::uint8_t no) : seen({.path = "/api/v1/pods", .channel = no}) {}
  reflector seen;
  std::map<std::string, std::uint64_t> known;  ///< name → version
  std::map<std::uint64_t, std::uint64_t> open; ///< at the cache → its own id
  std::set<protocol::timer_id> timers;
  std::optional<std::uint64_t> asked_at; ///< the server's version when a list was asked for
};

class story {
public:
  explicit story(std::uint64_t seed) : dice_(seed) {
    protocol::effects out;
    cache_.start(now_, out);
    api_.take(out);
    for (std::uint8_t i = 0; i < 3; ++i) {
      auto& f = followers_.emplace_back(static_cast<std::uint8_t>(i + 1));
      f.asked_at = api_.version();
      protocol::effects mine;
      f.seen.start(seed + i, now_, mine);
      perform(f, mine);
    }
  }

  void step() {
    now_ += 1ms;
    auto& f = followers_[dice_() % followers_.size()];
    switch (dice_() % 16) {
    case 0:
    case 1:
    case 2:
      return api_.change(dice_);
    case 3:
      return api_.pass();
    case 4:
    case 5:
    case 6:
    case 7:
      return tell_cache(api_.next());
    case 8:
      return tell_cache(api_.bookmark_somewhere());
    case 9:
    case 10:
      tell(f, 1 + dice_() % 400);
      return;
    case 11:
      return tell_all(f);
    case 12:
      return fire_one(f);
    case 13:
      return dice_() % 4 == 0 ? tell_cache(api_.cut_somewhere(dice_() % 2 ? "cut" : ""))
                              : tell_cache(api_.lose_an_answer());
    case 14:
      if (dice_() % 8 == 0)
        api_.compact();
      return;
    case 15:
      return dice_() % 6 == 0 ? ask_anew(f) : dice_() % 4 == 0 ? lose_link(f) : void();
    }
  }

  /// Nothing breaks any more: everybody hears everything.
  void come_to_rest() {
    for (int i = 0; i < 400; ++i) {
      now_ += 1ms;
      while (auto said = api_.next())
        tell_cache(std::move(said));
      if (i % 10 == 9)
        tell_cache(api_.bookmark_somewhere());
      for (auto& f : followers_) {
        tell_all(f);
        fire_one(f);
      }
    }
  }
  void expect_all_know() const {
    for (const auto& f : followers_) {
      EXPECT_EQ(f.known, api_.content());
      EXPECT_TRUE(f.seen.is_fresh()) << f.seen.last_failure();
    }
  }
  int lists() const { return lists_; }
  int distrusted() const { return distrusted_; }

private:
  void tell_cache(std::optional<protocol::event> what) {
    if (!what)
      return;
    protocol::effects out;
    EXPECT_TRUE(cache_.on(*what, now_, out));
    api_.take(out);
  }
  /// A timer that somebody waits for; silence is not what these stories are about.
  std::optional<protocol::timer_id> due(std::set<protocol::timer_id>& timers) {
    auto able = timers;
    std::erase_if(able, [](const auto& t) { return t.kind == reflector::stall_timer; });
    if (able.empty())
      return std::nullopt;
    const auto which = *std::next(able.begin(), static_cast<std::ptrdiff_t>(dice_() % able.size()));
    timers.erase(which);
    return which;
  }
  void fire_one(one_follower& f) {
    if (const auto t = due(api_.timers))
      tell_cache(protocol::timer_fired{*t});
    if (const auto t = due(f.timers))
      hear(f, protocol::timer_fired{*t});
  }
  /// One piece from each watch that it follows; true if there was one.
  bool tell(one_follower& f, std::size_t most) {
    bool was_told = false;
    const auto open = f.open;
    for (const auto& [id, its_own] : open)
      if (auto piece = cache_.next(id, most)) {
        was_told = true;
        std::visit([&, own = its_own](auto& x) { x.id = own; }, *piece);
        if (!std::holds_alternative<protocol::stream_opened>(*piece)
            && !std::holds_alternative<protocol::stream_lines>(*piece))
          f.open.erase(id);
        std::visit([&](auto& x) { hear(f, protocol::event{x}); }, *piece);
      }
    return was_told;
  }
  /// Upholds S12: who has been told everything trusts nothing that nobody watches.
  void tell_all(one_follower& f) {
    while (tell(f, 300))
      continue;
    if (!cache_.is_fresh()) {
      EXPECT_FALSE(f.seen.is_fresh());
      ++distrusted_;
    }
  }
  void hear(one_follower& f, const protocol::event& e) {
    protocol::effects out;
    f.seen.on(e, now_, out, [&](const change& c) {
      const auto name = std::string{c.key.substr(3)};
      if (c.what == change::kind::deleted)
        f.known.erase(name);
      else
        f.known[name] =
            *version_number(text_at(c.object->at("metadata").as_object(), "resourceVersion"));
    });
    if (f.asked_at && f.seen.is_fresh()) {
      EXPECT_GE(version_number(f.seen.resource_version()).value_or(0), *f.asked_at)
          << "the list is older than the question";
      f.asked_at.reset();
      ++lists_;
    }
    perform(f, out);
  }
  void perform(one_follower& f, const protocol::effects& asked) {
    for (const auto& e : asked.list())
      if (const auto* x = std::get_if<protocol::exchange>(&e); x && !x->request.is_stream) {
        hear(f, api_.list_for(x->id)); // a follower compares its watch with the server itself
      } else if (x) {
        const auto wish = watch_wish_of(x->request);
        ASSERT_TRUE(wish) << x->request.target;
        if (wish->lists)
          f.asked_at = api_.version();
        f.open[++last_id_] = x->id;
        protocol::effects out;
        cache_.follow(last_id_, *wish, out);
        api_.take(out);
      } else if (const auto* up = std::get_if<protocol::hang_up>(&e)) {
        std::erase_if(f.open, [&](const auto& o) {
          if (o.second != up->id)
            return false;
          cache_.leave(o.first);
          return true;
        });
      } else if (const auto* timer = std::get_if<protocol::arm>(&e)) {
        f.timers.insert(timer->timer);
      } else if (const auto* off = std::get_if<protocol::disarm>(&e)) {
        f.timers.erase(off->timer);
      }
  }
  /// A takeover.
  void ask_anew(one_follower& f) {
    protocol::effects out;
    f.seen.list_again(now_, out);
    perform(f, out);
  }
  void lose_link(one_follower& f) {
    const auto open = std::exchange(f.open, {});
    for (const auto& [id, own] : open) {
      cache_.leave(id);
      hear(f, protocol::stream_closed{own, "the link broke"});
    }
  }

  std::mt19937_64 dice_;
  base::time_point now_{1s};
  server api_;
  watch_cache cache_{{.path = "/api/v1/pods", .history_bytes_most = 3000}};
  std::vector<one_follower> followers_;
  std::uint64_t last_id_ = 0;
  int lists_ = 0;
  int distrusted_ = 0;
};

TEST(WatchCacheStory, ends_with_everybody_knowing_what_the_server_has) {
  int lists = 0, distrusted = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    story x{seed};
    for (int i = 0; i < 1500; ++i)
      x.step();
    x.come_to_rest();
    x.expect_all_know();
    lists += x.lists();
    distrusted += x.distrusted();
    if (HasFailure())
      return;
  }
  EXPECT_GT(lists, 200 * 6) << "the stories are about lists";
  EXPECT_GT(distrusted, 200) << "and about watches that break";
}

} // namespace
} // namespace tutti::bridge
