#include "chaos/hunt.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "base/ensure.hpp"
#include "base/mutant.hpp"
#include "chaos/run.hpp"
#include "chaos/small/exhaust.hpp"

namespace tutti::chaos {

namespace {

int report_to = -1; // in the child: where its last words go

void say(std::string_view id, std::string_view what) {
  std::string line{id};
  line += '\n';
  line += what;
  while (!line.empty()) {
    const auto n = ::write(report_to, line.data(), line.size());
    if (n <= 0)
      return;
    line.erase(0, static_cast<std::size_t>(n));
  }
}

void say_failed_check(const char* line) noexcept {
  const std::string_view what{line};
  // A failure must not allocate much: this is one line.
  say("E2", what);
}

[[noreturn]] void be_the_child(const schedule& what, const planted_bug* with) {
  if (const int nowhere = ::open("/dev/null", O_WRONLY); nowhere >= 0)
    ::dup2(nowhere, 2); // a failed check prints itself: it is in the report
  base::set_failure_hook(say_failed_check);
  if (with != nullptr)
    base::plant(with->id);
  try {
    if (const auto r = run(what, {.lines = 0}); r.broken)
      say(r.broken->id, to_text(*r.broken));
    else
      say("", "");
  } catch (const std::exception& e) {
    say("E2", e.what());
  }
  ::_exit(0);
}

std::string read_all(int from) {
  std::string out;
  char buffer[4096];
  for (ssize_t n = 0; (n = ::read(from, buffer, sizeof buffer)) > 0;)
    out.append(buffer, static_cast<std::size_t>(n));
  return out;
}

} // namespace

void switch_on(const planted_bug& bug) {
  base::plant(bug.id);
}

finding run_apart(const schedule& what, const planted_bug* with) {
  int ends[2];
  ensure(::pipe(ends) == 0, std::strerror(errno));
  const auto child = ::fork();
  ensure(child >= 0, std::strerror(errno));
  if (child == 0) {
    ::close(ends[0]);
    report_to = ends[1];
    be_the_child(what, with);
  }
  ::close(ends[1]);
  const auto report = read_all(ends[0]);
  ::close(ends[0]);
  int status = 0;
  ensure(::waitpid(child, &status, 0) == child, std::strerror(errno));
  const auto end = report.find('\n');
  if (end == std::string::npos)
    return {"E2", "the process ended without a word"};
  return {report.substr(0, end), report.substr(end + 1)};
}

swarm_options worlds_of(const planted_bug& bug) {
  return {.replicas = bug.replicas, .always_terms = bug.is_of_terms};
}

finding shown_by(const schedule& what, const planted_bug& bug) {
  auto with = run_apart(what, &bug);
  return with.breaks.empty() || run_apart(what, nullptr).breaks.empty() ? with : finding{};
}

hunt_result hunt(const planted_bug& bug, std::uint64_t first, std::uint64_t seeds) {
  const auto how = worlds_of(bug);
  for (auto seed = first; seed < first + seeds; ++seed)
    if (auto found = shown_by(draw_schedule(seed, how), bug); !found.breaks.empty())
      return {seed, std::move(found)};
  return {};
}

finding exhaust_with(const exhausted_bug& bug) {
  base::plant(bug.id);
  const auto r = small::exhaust(bug.search);
  base::plant(base::mutant::none);
  return r.broken ? finding{r.broken->id, r.broken->what} : finding{};
}

} // namespace tutti::chaos
