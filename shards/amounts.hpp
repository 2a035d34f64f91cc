// Element-wise arithmetic on resources that a ledger needs and nobody else does.
#pragma once

#include "base/resources.hpp"

namespace tutti::shards {

/// The smaller of each two amounts; an extended resource that one side lacks counts as 0.
base::resources lesser(const base::resources& a, const base::resources& b);
/// The larger of each two amounts.
base::resources greater(const base::resources& a, const base::resources& b);
/// `x` with every negative amount replaced by 0.
base::resources positive(const base::resources& x);
/// True if an amount that `asked` has is negative in `room`: what was asked for is over-used.
bool overused(const base::resources& asked, const base::resources& room);

} // namespace tutti::shards
