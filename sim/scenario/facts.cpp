#include "sim/scenario/facts.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>

#include <fmt/format.h>

#include "sim/scenario/scene.hpp"

namespace tutti::sim::scenario {

namespace {

constexpr auto any_least = -std::numeric_limits<double>::infinity();
constexpr auto any_most = std::numeric_limits<double>::infinity();

double real_of(const tree& x) {
  const auto& text = text_of(x);
  char* end = nullptr;
  const auto value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0')
    fail(x, fmt::format("\"{}\" is no number", text));
  return value;
}

const std::vector<const std::vector<fact_word>*>& families() {
  static const std::vector<const std::vector<fact_word>*> all{
      &facts_about_placement(), &facts_about_words(), &facts_about_objects(), &facts_about_work(),
      &facts_about_room()};
  return all;
}

/// The groups whose number of bound members an alternative names.
std::vector<std::string> counted_groups(const tree& alternative) {
  std::vector<std::string> out;
  const auto* bound = alternative.find("bound");
  if (!bound)
    return out;
  for (const auto& f : bound->fields) {
    const bool is_number = f.value.is == tree::kind::text && !f.value.text.empty()
                           && std::all_of(f.value.text.begin(), f.value.text.end(),
                                          [](char c) { return c >= '0' && c <= '9'; });
    if (is_number || f.value.is == tree::kind::map)
      for (auto& name : expand(f.name, *bound))
        out.push_back(std::move(name));
  }
  return out;
}

struct alternative {
  facts what;
  std::vector<std::string> groups;
};

void remember(scene& at, const alternative& x) {
  std::string winner, loser;
  for (const auto& group : x.groups) {
    if (group == "winner" || group == "loser")
      continue;
    auto& slot = at.bound_members(group).empty() ? loser : winner;
    if (slot.empty())
      slot = group;
  }
  at.remember_outcome(std::move(winner), std::move(loser));
}

sight needed_by(const std::vector<alternative>& all) {
  auto out = sight::objects;
  for (const auto& x : all)
    for (const auto& f : x.what)
      out = std::max(out, f->needed());
  return std::min(out, sight::part);
}

std::vector<alternative> read_alternatives(const tree& x) {
  std::vector<alternative> out;
  for (const auto& item : list_of(x).items)
    out.push_back({read_facts(item), counted_groups(item)});
  return out;
}

void read_one_of(const tree& word, const tree& value, facts& out) {
  auto all = read_alternatives(value);
  const auto needed = needed_by(all);
  add_fact(
      out, word, fmt::format("one_of: {}", to_text(value)),
      [all = std::move(all)](scene& at) -> finding {
        std::string found;
        for (const auto& x : all) {
          const auto broken = first_broken(x.what, at);
          if (!broken) {
            remember(at, x);
            return std::nullopt;
          }
          found += fmt::format("{}{}: {}", found.empty() ? "" : "; ", broken->what->text(),
                               broken->found);
        }
        return found;
      },
      needed);
}

void read_none_of(const tree& word, const tree& value, facts& out) {
  auto all = read_alternatives(value);
  // With a fact less an alternative holds more easily.
  const auto needed = needed_by(all) == sight::part ? sight::mind : needed_by(all);
  add_fact(
      out, word, fmt::format("none_of: {}", to_text(value)),
      [all = std::move(all)](scene& at) -> finding {
        for (std::size_t i = 0; i < all.size(); ++i)
          if (!first_broken(all[i].what, at))
            return fmt::format("number {} holds", i + 1);
        return std::nullopt;
      },
      needed);
}

} // namespace

std::string bounds::text() const {
  if (least == most)
    return fmt::format("{}", least);
  if (most == any_most)
    return fmt::format("at least {}", least);
  if (least == any_least)
    return fmt::format("at most {}", most);
  return fmt::format("{} to {}", least, most);
}

bounds read_bounds(const tree& x) {
  if (x.is == tree::kind::text) {
    const auto value = real_of(x);
    return {value, value};
  }
  mapping fields{x, "bound of a number"};
  const auto* least = fields.take("at_least");
  const auto* most = fields.take("at_most");
  fields.end();
  if (!least && !most)
    fail(x, "a number, {at_least: N} or {at_most: N}");
  return {least ? real_of(*least) : any_least, most ? real_of(*most) : any_most};
}

amount_bounds read_amount_bounds(const tree& x) {
  const auto amount = [](const tree& at) {
    const auto read = api::parse_quantity(text_of(at));
    if (!read)
      fail(at, fmt::format("\"{}\" is no amount", at.text));
    return *read;
  };
  if (x.is == tree::kind::text)
    return {amount(x), amount(x)};
  mapping fields{x, "bound of an amount"};
  const auto* least = fields.take("at_least");
  const auto* most = fields.take("at_most");
  fields.end();
  amount_bounds out;
  if (least)
    out.least = amount(*least);
  if (most)
    out.most = amount(*most);
  return out;
}

void add_fact(facts& out, const tree& where, std::string text, fact::looker look, sight needed) {
  out.push_back(std::make_shared<fact>(where.line, std::move(text), std::move(look), needed));
}

facts read_facts(const tree& x, const std::vector<std::string>& besides) {
  facts out;
  for (const auto& f : map_of(x).fields) {
    if (std::find(besides.begin(), besides.end(), f.name) != besides.end())
      continue;
    tree word;
    word.is = tree::kind::text;
    word.line = f.line;
    word.text = f.name;
    if (f.name == "one_of" || f.name == "none_of") {
      (f.name == "one_of" ? read_one_of : read_none_of)(word, f.value, out);
      continue;
    }
    std::vector<std::string> allowed;
    fact_reader read = nullptr;
    for (const auto* family : families())
      for (const auto& known : *family) {
        allowed.emplace_back(known.name);
        if (f.name == known.name)
          read = known.read;
      }
    if (!read) {
      allowed.insert(allowed.end(), {"one_of", "none_of"});
      fail_unknown(word, "fact", f.name, allowed);
    }
    read(word, f.value, out);
  }
  if (out.empty())
    fail(x, "no fact");
  return out;
}

std::optional<broken_fact> first_broken(const facts& all, scene& at) {
  for (const auto& f : all) {
    if (f->needed() == sight::mind && !at.has_mind())
      continue;
    if (auto found = f->look(at))
      return broken_fact{f, std::move(*found)};
  }
  return std::nullopt;
}

} // namespace tutti::sim::scenario
