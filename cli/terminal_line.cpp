#include "cli/terminal_line.hpp"

#include <cstdio>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

#include <fmt/core.h>

namespace tutti::cli {

namespace {

/// Back to the first column, and nothing from there on.
constexpr std::string_view wipe = "\r\033[K";

/// Of terminals that do not say how wide they are.
constexpr unsigned usual_width = 80;

std::size_t width() {
  winsize size{};
  const bool is_known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return is_known ? size.ws_col : usual_width;
}

} // namespace

terminal_line::terminal_line() : is_terminal_(::isatty(STDERR_FILENO) == 1) {}

void terminal_line::show(const std::string& text) {
  if (!is_terminal_)
    return;
  // The last column stays free: some terminals wrap as soon as it is written.
  fmt::print(stderr, "{}{}", wipe, std::string_view{text}.substr(0, width() - 1));
  std::fflush(stderr);
  has_text_ = true;
}

void terminal_line::clear() {
  if (!has_text_)
    return;
  fmt::print(stderr, "{}", wipe);
  std::fflush(stderr);
  has_text_ = false;
}

} // namespace tutti::cli
