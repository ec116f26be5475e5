// Timestamp: an instant in UTC with up to 9 fraction digits, compared exactly.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/values/parsed.hpp"

namespace sluice {

inline constexpr std::int64_t kSecondsPerDay = 86'400;
inline constexpr std::int64_t kSecondsPerHour = 3600;

struct Timestamp {
    std::int64_t seconds = 0;  ///< Since 1970-01-01T00:00:00Z, no leap seconds. Year 0000 to 9999.
    std::uint32_t nanos = 0;   ///< 0 to 999,999,999.

    friend constexpr auto operator<=>(const Timestamp&, const Timestamp&) = default;

    /// Parses RFC 3339 with seconds, 0 to 9 fraction digits, `Z` or an offset, `T`/`Z` in either
    /// case; no offset means UTC. 23:59:60 UTC is the next second. Not accepted: a space for `T`,
    /// `+0200`, 24:00:00, a date alone, an instant outside the years 0000 to 9999.
    [[nodiscard]] static Parsed<Timestamp> parse(std::string_view text) noexcept;

    /// Returns `YYYY-MM-DDTHH:MM:SS[.fraction]Z`, the fraction without trailing zeros.
    [[nodiscard]] std::string to_string() const;

    [[nodiscard]] constexpr Timestamp plus_seconds(std::int64_t delta) const noexcept {
        return {seconds + delta, nanos};
    }
    [[nodiscard]] constexpr Timestamp plus_days(std::int64_t days) const noexcept {
        return plus_seconds(days * kSecondsPerDay);
    }
};

inline constexpr Timestamp kFirstInstant{-62'167'219'200, 0};  ///< Year 0000.
inline constexpr Timestamp kEndOfTime{253'402'300'800, 0};     ///< Year 10000, after every instant.

/// Returns the calendar month (UTC) as a number: 202601.
[[nodiscard]] std::uint32_t month_of(Timestamp at);
/// Returns a month as month_of() returns it as text: 2026-01.
[[nodiscard]] std::string month_text(std::uint32_t month);
/// Returns the first instant of the month after a month as month_of() returns it.
[[nodiscard]] Timestamp end_of_month(std::uint32_t month);
/// Returns the calendar day (UTC): 20260131.
[[nodiscard]] std::uint32_t day_of(Timestamp at);
/// Returns a day as day_of() returns it as text: 2026-01-31.
[[nodiscard]] std::string day_text(std::uint32_t day);
/// Returns the first instant of the calendar day (UTC).
[[nodiscard]] Timestamp start_of_day(Timestamp at);
/// @param day  As day_of() returns it.
[[nodiscard]] Timestamp start_of_day(std::uint32_t day);

}  // namespace sluice
