// The embedded API server and a genuine one are asked the same, and answer the same.
#include <gtest/gtest.h>

#include "tests/live/control_plane.hpp"
#include "tests/live/differential.hpp"

namespace tutti::live {
namespace {

using namespace differential;

class Differential : public Live {};

TEST_F(Differential, answers_of_the_embedded_server_are_those_of_a_genuine_one) {
  control_plane on;
  daemon ours{{.what = {"--serve-only", "--data-dir", home_.sub("api")},
               .listens = true,
               .has_admin = false}};
  for (const auto& x : everything_asked()) {
    const auto genuine = on.api().ask(x.method, x.path, filled(x.body, on.api()));
    const auto embedded = ours.api().ask(x.method, x.path, filled(x.body, ours.api()));
    EXPECT_EQ(essence(embedded), essence(genuine))
        << x.what << ": " << x.method << " " << x.path
        << "\ngenuine:  " << genuine.body.substr(0, 700)
        << "\nembedded: " << embedded.body.substr(0, 700);
  }
  ours.stop();
}

} // namespace
} // namespace tutti::live
