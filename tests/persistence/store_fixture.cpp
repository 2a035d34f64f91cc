// Short ways to make records, decisions and stores of both kinds.
#include "tests/persistence/store_fixture.hpp"

namespace tutti::persistence::testing {

request append(const protocol::address& writer, record what, bool synced,
               std::uint64_t incarnation) {
  return append_request{writer, {incarnation}, std::move(what), synced};
}

} // namespace tutti::persistence::testing
