// Documents of scenario files: the head of a story; its steps are read by step_reader.cpp.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "sim/scenario/story.hpp"

namespace tutti::sim::scenario {

namespace {

constexpr std::array known_needs{"preemption",  "claims",     "composite",
                                 "controllers", "autoscaler", "replicas"};
/// What the scheduler and its world can do of `known_needs`.
constexpr std::array<std::string_view, 2> supported_needs{"preemption", "replicas"};
/// More would be a world of its own kind.
constexpr std::uint32_t replicas_most = 9;

void read_needs(const tree& x, story& out) {
  const std::vector<std::string> allowed{known_needs.begin(), known_needs.end()};
  for (const auto& item : list_of(x).items) {
    const auto& word = word_of(item, "need", allowed);
    out.needs.push_back(word);
    if (std::find(supported_needs.begin(), supported_needs.end(), word) == supported_needs.end())
      out.unsupported.push_back(word);
  }
}

void read_world(const tree& x, story& out) {
  mapping fields{x, "field of the world"};
  if (const auto* n = fields.take("replicas"))
    out.replicas = static_cast<std::uint32_t>(number_of(*n));
  if (const auto* n = fields.take("shards"))
    out.shards = static_cast<std::uint32_t>(number_of(*n));
  const auto* log = fields.take("decision_log");
  out.has_api_log = log && word_of(*log, "decision log", {"rocksdb", "api"}) == "api";
  fields.end();
  if (out.replicas < 1 || out.shards < 1)
    fail(x, "a world has at least one replica and one shard");
  if (out.replicas > replicas_most)
    fail(x, fmt::format("a world has at most {} replicas", replicas_most));
  if (out.replicas > 1 && !out.has_api_log)
    fail(x, "several replicas need decision_log: api");
}

void read_leases(const tree& x, story& out) {
  mapping fields{x, "field of leaderElection"};
  if (const auto* d = fields.take("leaseDuration"))
    out.lease.duration = duration_of(*d);
  if (const auto* d = fields.take("renewDeadline"))
    out.lease.given_up = duration_of(*d);
  if (const auto* d = fields.take("retryPeriod"))
    out.lease.renewal = duration_of(*d);
  fields.end();
  if (!out.lease.are_sound())
    fail(x, "retryPeriod is less than renewDeadline, and that less than leaseDuration");
}

/// Fields of the configuration file that a simulated scheduler has.
void read_config(const tree& x, story& out) {
  for (const auto& f : map_of(x).fields) {
    out.settings.push_back(f.name);
    if (f.name == "topologyLevels")
      for (const auto& level : texts_of(f.value))
        out.levels.push_back(label_key(level));
    else if (f.name == "leaderElection")
      read_leases(f.value, out);
    else
      out.unsupported.push_back("config." + f.name);
  }
}

story read_story(const tree& document, const std::string& file, const std::string& scheduler) {
  story out;
  out.speaks.scheduler = scheduler;
  out.file = file;
  out.line = document.line;
  mapping fields{document, "field of a scenario"};
  out.title = text_of(fields.need("scenario"));
  out.id = text_of(fields.need("id"));
  if (const auto* source = fields.take("source"))
    out.source = text_of(*source);
  if (const auto* version = fields.take("kubernetes")) {
    const auto known = api::release_of(text_of(*version));
    if (!known)
      fail_unknown(*version, "version of Kubernetes", version->text, {"1.35", "1.36", "1.37"});
    out.speaks.kubernetes = *known;
  }
  if (const auto* needs = fields.take("needs"))
    read_needs(*needs, out);
  if (const auto* gates = fields.take("gates"))
    for (const auto& gate : map_of(*gates).fields) {
      out.gates.push_back(gate.name);
      out.unsupported.push_back("gates." + gate.name);
    }
  if (const auto* world = fields.take("world"))
    read_world(*world, out);
  if (const auto* config = fields.take("config"))
    read_config(*config, out);
  if (const auto* seeds = fields.take("seeds")) {
    const auto n = number_of(*seeds);
    if (n < 1 || n > 100'000)
      fail(*seeds, "seeds: from 1 to 100000");
    out.seeds = static_cast<std::uint32_t>(n);
  }
  const auto& steps = fields.need("steps");
  fields.end();
  const auto folder = std::filesystem::path{file}.parent_path().string();
  out.steps = read_steps(steps, {out.speaks, folder});
  return out;
}

} // namespace

base::result<std::vector<story>> read_story_text(const std::string& text, const std::string& file,
                                                 const std::string& scheduler) {
  try {
    std::vector<story> out;
    for (const auto& document : read_documents(text)) {
      out.push_back(read_story(document, file, scheduler));
      const auto& added = out.back();
      const auto is_same = [&](const story& x) { return x.id == added.id; };
      if (std::find_if(out.begin(), out.end() - 1, is_same) != out.end() - 1)
        throw bad_story{added.line, fmt::format("id {} is there twice", added.id)};
    }
    if (out.empty())
      throw bad_story{1, "there is no scenario in this file"};
    return out;
  } catch (const bad_story& wrong) {
    return base::error{base::code::bad_input,
                       fmt::format("{}:{}: {}", file, wrong.line, wrong.message)};
  }
}

base::result<std::vector<story>> read_stories(const std::string& path,
                                              const std::string& scheduler) {
  std::ifstream in{path};
  if (!in)
    return base::error{base::code::not_found, fmt::format("{}: cannot be read", path)};
  std::ostringstream text;
  text << in.rdbuf();
  return read_story_text(text.str(), path, scheduler);
}

} // namespace tutti::sim::scenario
