// One line on stderr that is written anew while a person waits, and leaves nothing behind.
#pragma once

#include <string>

namespace tutti::cli {

/// Does nothing where stderr is no terminal. Whoever writes something else there clears it first;
/// the destructor clears it on every way out.
class terminal_line {
public:
  terminal_line();
  terminal_line(const terminal_line&) = delete;
  terminal_line& operator=(const terminal_line&) = delete;
  ~terminal_line() { clear(); }

  /// Somebody can see it.
  bool is_seen() const { return is_terminal_; }
  /// In place of what it showed before. `text` is ASCII; what does not fit into the width of the
  /// terminal is left out, because a line that wraps cannot be taken away.
  void show(const std::string& text);
  void clear();

private:
  const bool is_terminal_;
  bool has_text_ = false;
};

} // namespace tutti::cli
