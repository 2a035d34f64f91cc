// What must be true: facts as values that are asked of a scene, one family per file.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/quantity.hpp"
#include "sim/scenario/names.hpp"
#include "sim/scenario/text.hpp"

namespace tutti::sim::scenario {

class scene;

/// What was found instead of what a fact says; nothing if the fact holds.
using finding = std::optional<std::string>;

/// What has to be looked at to tell whether a fact holds.
enum class sight : std::uint8_t {
  objects, ///< of the API server: it changes only when one of them does
  deeds,   ///< what somebody outside can see as well, but not by objects alone
  part,    ///< alternatives of which some need the mind
  mind     ///< what only the scheduler knows
};

class fact {
public:
  using looker = std::function<finding(scene&)>;
  fact(int line, std::string text, looker look, sight needed)
      : line_(line), text_(std::move(text)), look_(std::move(look)), needed_(needed) {}

  finding look(scene& at) const { return look_(at); }
  int line() const { return line_; }
  /// As it stands in the file.
  const std::string& text() const { return text_; }
  sight needed() const { return needed_; }
  /// It changes only when an object of the API server does.
  bool is_of_api_alone() const { return needed_ == sight::objects; }

private:
  int line_;
  std::string text_;
  looker look_;
  sight needed_;
};
using fact_ptr = std::shared_ptr<const fact>;
using facts = std::vector<fact_ptr>;

/// All facts of a mapping except the fields in `besides` (`within`, `for`). Throws `bad_story` for
/// a fact that does not exist: the error says which do.
facts read_facts(const tree& x, const std::vector<std::string>& besides = {});

/// The first of `all` that does not hold, with what was found; nothing if all hold. Where nobody
/// can look into the scheduler's mind, facts about that are passed over.
struct broken_fact {
  fact_ptr what;
  std::string found;
};
std::optional<broken_fact> first_broken(const facts& all, scene& at);

/// A number, `{at_least: N}`, `{at_most: N}` or both. Fractions are allowed.
struct bounds {
  double least = 0;
  double most = 0;

  bool hold(double x) const { return least <= x && x <= most; }
  std::string text() const;
};
bounds read_bounds(const tree& x);
/// The same of amounts as Kubernetes writes them.
struct amount_bounds {
  std::optional<api::quantity> least, most;

  /// `x` is in thousandths (cpu) or whole.
  bool hold(std::int64_t x, bool is_milli) const {
    const auto of = [&](const api::quantity& q) { return is_milli ? q.milli_value() : q.value(); };
    return (!least || of(*least) <= x) && (!most || x <= of(*most));
  }
};
amount_bounds read_amount_bounds(const tree& x);

/// Adds the facts of one word. `value` is what stands behind the word.
using fact_reader = void (*)(const tree& word, const tree& value, facts& out);
struct fact_word {
  const char* name;
  fact_reader read;
};
// The families, each in a file of its own.
const std::vector<fact_word>& facts_about_placement(); ///< bound, pending, domain, …
const std::vector<fact_word>& facts_about_words();     ///< reason, message, condition, events
const std::vector<fact_word>& facts_about_objects();   ///< object, count, claims, devices
const std::vector<fact_word>& facts_about_work(); ///< attempts, writes, known, metric, since, …
const std::vector<fact_word>& facts_about_room(); ///< reserved, held, node, each_node

/// One fact, for the files above.
void add_fact(facts& out, const tree& where, std::string text, fact::looker look,
              sight needed = sight::objects);

} // namespace tutti::sim::scenario
