// A line is written before anything is believed, and read back at the next start.
#include "expected_state.hpp"

#include <fstream>
#include <sstream>

#include <fmt/core.h>
#include <gtest/gtest.h>

namespace tutti::commands {

namespace {

std::string_view name_of(expected_state::wish x) {
  return x == expected_state::wish::create ? "create" : "remove";
}

} // namespace

expected_state::expected_state(std::string path) : path_(std::move(path)) {
  std::ifstream in{path_};
  for (std::string line; std::getline(in, line);)
    take(line);
}

void expected_state::write(const std::string& line) {
  std::ofstream{path_, std::ios::app} << line << "\n" << std::flush;
  take(line);
}

void expected_state::take(const std::string& line) {
  std::istringstream in{line};
  std::string word, what, name;
  in >> word >> what >> name;
  if (word == "bound") {
    std::string node;
    in >> node;
    bound_[what] = {name, node};
    return;
  }
  const auto wanted = what == "create" ? wish::create : wish::remove;
  auto& x = objects_[name];
  if (word == "pending") {
    x.pending = wanted;
    return;
  }
  x.pending.reset();
  x.is_there = wanted == wish::create;
  if (wanted == wish::remove && name.starts_with("pod/"))
    bound_.erase(name.substr(4));
}

void expected_state::pending(wish what, const std::string& name) {
  write(fmt::format("pending {} {}", name_of(what), name));
}

void expected_state::done(wish what, const std::string& name) {
  write(fmt::format("done {} {}", name_of(what), name));
}

void expected_state::saw(const cluster_seen& x) {
  for (const auto& [name, pod] : x.pods)
    if (!pod.node.empty() && !bound_.contains(name))
      write(fmt::format("bound {} {} {}", name, pod.uid, pod.node));
}

bool expected_state::is(wish what, const std::string& name) const {
  const auto pos = objects_.find(name);
  if (pos == objects_.end())
    return what == wish::remove;
  return !pos->second.pending && pos->second.is_there == (what == wish::create);
}

void expected_state::expect_in(const cluster_seen& x) const {
  std::map<std::string, bool> seen;
  for (const auto& [name, pod] : x.pods)
    seen["pod/" + name] = true;
  for (const auto& [name, min] : x.groups)
    seen["group/" + name] = true;
  for (const auto& [name, it] : objects_) {
    if (it.pending)
      continue;
    EXPECT_EQ(seen.contains(name), it.is_there) << name << " by the word of an earlier life";
  }
  for (const auto& [name, yes] : seen)
    EXPECT_TRUE(objects_.contains(name)) << name << " was never written";
  for (const auto& [name, where] : bound_) {
    const auto pos = x.pods.find(name);
    if (pos == x.pods.end())
      continue; // told above, unless its removal is pending
    EXPECT_EQ(pos->second.uid, where.uid) << name;
    EXPECT_EQ(pos->second.node, where.node) << name << " was bound, and bound again";
  }
}

std::string expected_state::story() const {
  std::ifstream in{path_};
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

} // namespace tutti::commands
