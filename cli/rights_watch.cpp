#include "cli/rights_watch.hpp"

#include <utility>

#include "base/result.hpp"
#include "bridge/printable.hpp"
#include "cli/output.hpp"

namespace tutti::cli {

namespace {
/// So much of the server's words is shown.
constexpr std::size_t words_shown = 300;
} // namespace

void rights_watch::look(const actors::api_calls& all) {
  std::set<actors::api_call> now;
  for (const auto& right : all.missing()) {
    now.insert(right.what);
    if (!known_.contains(right.what))
      print_warning({base::code::forbidden,
                     "the API server does not let us " + to_text(right.what) + ": "
                         + bridge::printable(right.words, words_shown),
                     "grant it: deploy/rbac.yaml has all rights, and what each is for"});
  }
  known_ = std::move(now);
}

} // namespace tutti::cli
