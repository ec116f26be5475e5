#include "core/values/hour_sums.hpp"

#include <utility>

namespace sluice {
namespace {

constexpr std::int64_t kSpanSeconds = kSpanHours * kSecondsPerHour;

void append_varint(std::string& to, Int128 value) {
    UInt128 rest = static_cast<UInt128>(value) << 1 ^ (value < 0 ? ~UInt128{0} : UInt128{0});
    for (; rest >= 0x80; rest >>= 7) {
        to += static_cast<char>(0x80 | static_cast<unsigned>(rest & 0x7F));
    }
    to += static_cast<char>(rest);
}

constexpr Int128 signed_number(UInt128 value) noexcept {
    return static_cast<Int128>(value >> 1 ^ (~(value & 1) + 1));
}

}  // namespace

std::uint32_t span_of(Timestamp at) noexcept {
    return static_cast<std::uint32_t>((at.seconds - kFirstInstant.seconds) / kSpanSeconds);
}

unsigned hour_in_span(Timestamp at) noexcept {
    return static_cast<unsigned>((at.seconds - kFirstInstant.seconds) % kSpanSeconds /
                                 kSecondsPerHour);
}

Timestamp start_of_hour(std::uint32_t span, unsigned hour) noexcept {
    return {kFirstInstant.seconds + span * kSpanSeconds + hour * kSecondsPerHour, 0};
}

void append_hour(std::string& sums, const HourSum& sum) {
    sums += static_cast<char>(sum.hour);
    append_varint(sums, sum.amounts);
    append_varint(sums, sum.units);
}

/// Reads seven bits of each byte, the lowest first.
bool HourReader::read(UInt128& value) noexcept {
    constexpr unsigned kBits = 128;
    value = 0;
    for (unsigned shift = 0; at_ != end_ && shift < kBits; shift += 7) {
        const auto byte = static_cast<unsigned char>(*at_++);
        value |= static_cast<UInt128>(byte & 0x7FU) << shift;
        if ((byte & 0x80U) == 0) {
            return true;
        }
    }
    return false;
}

bool HourReader::next_of_any(HourSum& sum) noexcept {
    if (at_ == end_ || damaged_) {
        return false;
    }
    UInt128 amounts = 0, units = 0;
    sum.hour = static_cast<unsigned char>(*at_++);
    damaged_ = sum.hour < next_hour_ || sum.hour >= kSpanHours || !read(amounts) || !read(units);
    next_hour_ = damaged_ ? kSpanHours : sum.hour + 1;
    sum.amounts = static_cast<std::int64_t>(signed_number(amounts));
    sum.units = signed_number(units);
    return !damaged_;
}

std::string_view HourReader::pass_until(unsigned hour) noexcept {
    const char* const begin = at_;
    const auto pass_number = [this] {
        while (at_ != end_ && (static_cast<unsigned char>(*at_) & 0x80U) != 0) {
            ++at_;
        }
        damaged_ = damaged_ || at_ == end_;
        at_ += at_ != end_ ? 1 : 0;
    };
    while (at_ != end_ && static_cast<unsigned char>(*at_) < hour) {
        ++at_;
        pass_number();
        pass_number();
    }
    return {begin, static_cast<std::size_t>(at_ - begin)};
}

bool add_hours(std::string& sums, std::string_view change) {
    if (sums.empty()) {
        sums = change;
        return true;
    }
    std::string added;
    added.reserve(sums.size() + change.size());
    HourReader stored(sums), changes(change);
    HourSum one;
    while (changes.next(one)) {
        added += stored.pass_until(one.hour);
        HourReader here = stored;
        HourSum old;
        if (here.next(old) && old.hour == one.hour) {
            one.amounts += old.amounts;
            one.units += old.units;
            stored = here;
        }
        if (one.amounts != 0 || one.units != 0) {
            append_hour(added, one);
        }
    }
    added += stored.pass_until(kSpanHours);
    if (!stored.is_complete() || !changes.is_complete()) {
        return false;
    }
    sums = std::move(added);
    return true;
}

}  // namespace sluice
