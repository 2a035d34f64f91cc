#include "sim/scenario/runner.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

#include "base/time.hpp"

namespace tutti::sim::scenario {

namespace {

constexpr auto list_name = "expected_failures.yaml";

base::result<expected_failures> read_list(const std::filesystem::path& path) {
  std::ifstream in{path};
  std::ostringstream text;
  text << in.rdbuf();
  try {
    expected_failures out;
    for (const auto& document : read_documents(text.str()))
      for (const auto& f : map_of(document).fields) {
        const auto& reason = text_of(f.value);
        if (reason.empty())
          fail(f.value, fmt::format("{}: a reason is missing", f.name));
        out[f.name] = reason;
      }
    return out;
  } catch (const bad_story& wrong) {
    return base::error{base::code::bad_input,
                       fmt::format("{}:{}: {}", path.string(), wrong.line, wrong.message)};
  }
}

} // namespace

std::string_view name_of(outcome x) {
  switch (x) {
  case outcome::passed:
    return "passed";
  case outcome::failed:
    return "failed";
  case outcome::failed_as_expected:
    return "failed as expected";
  case outcome::passed_unexpectedly:
    return "passed unexpectedly";
  case outcome::not_supported:
    return "not supported";
  }
  return "?";
}

bool is_good(outcome x) {
  return x != outcome::failed && x != outcome::passed_unexpectedly;
}

base::result<expected_failures> read_expected_failures(const std::string& story_file) {
  std::error_code failed;
  auto folder = std::filesystem::absolute(story_file, failed).parent_path();
  for (; !folder.empty(); folder = folder.parent_path()) {
    if (std::filesystem::exists(folder / list_name, failed))
      return read_list(folder / list_name);
    if (folder == folder.root_path())
      break;
  }
  return expected_failures{};
}

story_result run_story(const story& what, const run_options& how, const expected_failures& known) {
  story_result out;
  out.file = what.file;
  out.id = what.id;
  out.title = what.title;
  if (const auto pos = known.find(what.id); pos != known.end())
    out.expected = pos->second;
  if (!what.unsupported.empty()) {
    out.how = outcome::not_supported;
    out.lacking = what.unsupported;
    return out;
  }
  const base::system_clock watch;
  const auto first = how.seed.value_or(1);
  const auto number = how.seed ? 1 : how.seeds.value_or(what.seeds);
  for (std::uint32_t n = 0; n < number && !out.why; ++n) {
    ++out.seeds;
    out.failed_seed = first + n;
    stage on{what, first + n, how.plans};
    out.why = on.play();
  }
  const bool is_listed = !out.expected.empty();
  if (out.why)
    out.how = is_listed ? outcome::failed_as_expected : outcome::failed;
  else
    out.how = is_listed ? outcome::passed_unexpectedly : outcome::passed;
  out.took_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(watch.now().time_since_epoch()).count();
  return out;
}

} // namespace tutti::sim::scenario
