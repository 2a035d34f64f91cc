// `tutti scenario compare`: what two schedulers made of the same stories, as a page.
#pragma once

#include <string>

#include <boost/json/object.hpp>

namespace tutti::cli {

/// Results as `scenario run -o json` prints them.
struct compared {
  std::string name; ///< of the scheduler, in the head of its column
  boost::json::object results;
};

/// Markdown: a table of the stories that one of them has played, with the first thing that was not
/// as the story says, and below it why others were not played.
/// What a result lacks stays empty.
std::string comparison(const compared& ours, const compared& theirs);

struct compare_options {
  std::string ours, theirs; ///< files, or folders of them
  std::string our_name = "tutti", their_name = "kube-scheduler";
};
/// Prints it. 0; 3 if a file cannot be read or is no list of results.
int compare_scenarios(const compare_options& how);

} // namespace tutti::cli
