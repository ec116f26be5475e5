// Hour sums: amounts of one currency added up by the hour of their sale, for the eight days of a
// span, as the bytes of one column. docs/record-format.md has the form.
//
// Equal sums give equal bytes. An hour whose sum and number are 0 has no bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/values/decimal.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

inline constexpr unsigned kDayHours = 24;
inline constexpr unsigned kSpanHours = 8 * kDayHours;

/// Returns the number of the eight days, counted from kFirstInstant, that the instant is in.
/// Requires: at >= kFirstInstant.
[[nodiscard]] std::uint32_t span_of(Timestamp at) noexcept;
/// Returns the hour of its span, below kSpanHours. Requires: as of span_of().
[[nodiscard]] unsigned hour_in_span(Timestamp at) noexcept;
[[nodiscard]] Timestamp start_of_hour(std::uint32_t span, unsigned hour) noexcept;

struct HourSum {
    unsigned hour = 0;         ///< In the span.
    std::int64_t amounts = 0;  ///< How many were added. A node's part may be negative.
    Int128 units = 0;          ///< Their sum, in minor units of the currency.
};

void append_hour(std::string& sums, const HourSum& sum);

/// Reads sums by hour. The bytes must outlive the reader.
class HourReader {
public:
    explicit HourReader(std::string_view sums) noexcept
        : at_(sums.data()), end_(sums.data() + sums.size()) {}

    /// Returns false at the end, or if the bytes are not as append_hour() writes them.
    [[nodiscard]] bool next(HourSum& sum) noexcept {
        // Inline, because the balances of an account may be made of a million hours.
        const char* const begin = at_;
        const unsigned hour = at_ == end_ ? kSpanHours : static_cast<unsigned char>(*at_++);
        std::uint64_t amounts = 0, units = 0;
        if (hour < next_hour_ || hour >= kSpanHours || !read_short(amounts) || !read_short(units)) {
            at_ = begin;
            return next_of_any(sum);
        }
        next_hour_ = hour + 1;
        sum = {hour, signed_value(amounts), signed_value(units)};
        return true;
    }
    /// Returns whether next() has read all bytes.
    [[nodiscard]] bool is_complete() const noexcept { return at_ == end_ && !damaged_; }

    /// Returns the bytes of the sums before `hour`, and passes them.
    [[nodiscard]] std::string_view pass_until(unsigned hour) noexcept;

private:
    /// Reads a number of at most nine bytes, the lowest seven bits first. Returns false, and leaves
    /// the reader anywhere, if it is longer or damaged.
    [[nodiscard]] bool read_short(std::uint64_t& value) noexcept {
        constexpr unsigned kBits = 63;
        for (unsigned shift = 0; at_ != end_ && shift < kBits; shift += 7) {
            const auto byte = static_cast<unsigned char>(*at_++);
            value |= std::uint64_t{byte & 0x7FU} << shift;
            if ((byte & 0x80U) == 0) {
                return true;
            }
        }
        return false;
    }
    static constexpr std::int64_t signed_value(std::uint64_t value) noexcept {
        return static_cast<std::int64_t>(value >> 1 ^ (~(value & 1) + 1));
    }
    /// As next(), with numbers of any length.
    [[nodiscard]] bool next_of_any(HourSum& sum) noexcept;
    [[nodiscard]] bool read(UInt128& value) noexcept;

    const char* at_;
    const char* end_;
    unsigned next_hour_ = 0;  ///< The next sum is of this hour or a later one.
    bool damaged_ = false;
};

/// Adds the sums of `change`. Returns false, and changes nothing, if either is damaged.
[[nodiscard]] bool add_hours(std::string& sums, std::string_view change);

}  // namespace sluice
