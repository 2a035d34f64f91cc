// RFC 3339 times as the API writes them.
#include "api/timestamp.hpp"

#include <chrono>
#include <cstdint>
#include <optional>

#include <fmt/core.h>

namespace tutti::api {
namespace {

constexpr std::int64_t ms_per_second = 1000;
constexpr std::int64_t ms_per_minute = 60 * ms_per_second;
constexpr std::int64_t ms_per_day = 24 * 60 * ms_per_minute;

/// Takes characters from the front of a text; after a failure nothing more is taken.
class scanner {
public:
  explicit scanner(std::string_view text) : rest_(text) {}

  int digits(std::size_t count) {
    if (rest_.size() < count)
      return fail();
    int out = 0;
    for (char c : rest_.substr(0, count)) {
      if (c < '0' || c > '9')
        return fail();
      out = out * 10 + (c - '0');
    }
    rest_.remove_prefix(count);
    return out;
  }
  /// One of `choices`; 0 if there is none of them, which is a failure unless `is_optional`.
  char one_of(std::string_view choices, bool is_optional = false) {
    if (rest_.empty() || choices.find(rest_.front()) == std::string_view::npos) {
      if (!is_optional)
        fail();
      return 0;
    }
    char out = rest_.front();
    rest_.remove_prefix(1);
    return out;
  }
  /// Digits of a fraction as milliseconds; what is finer is cut.
  std::int64_t fraction_ms() {
    std::int64_t out = 0;
    std::int64_t weight = 100;
    bool is_any = false;
    while (!rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9') {
      out += weight * (rest_.front() - '0');
      weight /= 10;
      is_any = true;
      rest_.remove_prefix(1);
    }
    if (!is_any)
      fail();
    return out;
  }
  bool is_done() const { return ok_ && rest_.empty(); }

private:
  int fail() {
    ok_ = false;
    rest_ = {};
    return 0;
  }

  std::string_view rest_;
  bool ok_ = true;
};

std::int64_t days_since_1970(std::chrono::year_month_day date) {
  return std::chrono::sys_days{date}.time_since_epoch().count();
}

struct broken_down {
  std::chrono::year_month_day date;
  std::int64_t hour, minute, second, ms;
};

broken_down break_down(base::wall_time t) {
  auto day = t.unix_ms / ms_per_day - (t.unix_ms % ms_per_day < 0 ? 1 : 0);
  auto rest = t.unix_ms - day * ms_per_day;
  return {std::chrono::year_month_day{std::chrono::sys_days{std::chrono::days{day}}},
          rest / (60 * ms_per_minute), rest / ms_per_minute % 60, rest / ms_per_second % 60,
          rest % ms_per_second};
}

} // namespace

base::result<base::wall_time> parse_timestamp(std::string_view text) {
  scanner in(text);
  int year = in.digits(4);
  in.one_of("-");
  auto month = static_cast<unsigned>(in.digits(2));
  in.one_of("-");
  auto day = static_cast<unsigned>(in.digits(2));
  in.one_of("Tt");
  int hour = in.digits(2);
  in.one_of(":");
  int minute = in.digits(2);
  in.one_of(":");
  int second = in.digits(2);
  std::int64_t ms = in.one_of(".", true) != 0 ? in.fraction_ms() : 0;
  std::int64_t offset_minutes = 0;
  if (char sign = in.one_of("Zz+-"); sign == '+' || sign == '-') {
    offset_minutes = in.digits(2) * 60;
    in.one_of(":");
    offset_minutes += in.digits(2);
    offset_minutes *= sign == '-' ? -1 : 1;
  }
  std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{month},
                                   std::chrono::day{day}};
  if (!in.is_done() || !date.ok() || hour > 23 || minute > 59 || second > 60)
    return base::error{base::code::bad_input, fmt::format("\"{}\" is no RFC 3339 time", text)};
  return base::wall_time{days_since_1970(date) * ms_per_day
                         + (hour * 60 + minute - offset_minutes) * ms_per_minute
                         + second * ms_per_second + ms};
}

std::string timestamp_text(base::wall_time t) {
  auto x = break_down(t);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", static_cast<int>(x.date.year()),
                     static_cast<unsigned>(x.date.month()), static_cast<unsigned>(x.date.day()),
                     x.hour, x.minute, x.second);
}

std::string micro_timestamp_text(base::wall_time t) {
  auto whole = timestamp_text(t);
  whole.pop_back();
  return fmt::format("{}.{:03}000Z", whole, break_down(t).ms);
}

} // namespace tutti::api
