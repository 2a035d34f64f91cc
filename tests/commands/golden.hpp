// Comparing what a command prints with a file, after what differs from run to run is masked.
#pragma once

#include <string>

namespace tutti::commands {

/// `text` with UIDs, ages, durations, ports, times and temporary paths replaced by words.
std::string masked(std::string text);

/// Fails the test unless masked(`text`) is the content of golden/`name`. With
/// TUTTI_WRITE_GOLDEN=1 in the environment the file is written instead; look at the difference.
void expect_golden(const std::string& name, const std::string& text);

} // namespace tutti::commands
