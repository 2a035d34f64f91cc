// Wall time as API objects write it (RFC 3339).
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/time.hpp"

namespace tutti::api {

/// "2026-07-24T10:11:12Z", with any fraction (cut to milliseconds) and offset. Else `bad_input`.
base::result<base::wall_time> parse_timestamp(std::string_view text);

/// metav1.Time: whole seconds, UTC ("2026-07-24T10:11:12Z").
std::string timestamp_text(base::wall_time t);
/// metav1.MicroTime, as Leases and Events want it ("2026-07-24T10:11:12.345000Z").
std::string micro_timestamp_text(base::wall_time t);

} // namespace tutti::api
