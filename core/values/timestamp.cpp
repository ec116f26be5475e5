#include "core/values/timestamp.hpp"

#include <algorithm>
#include <chrono>

namespace sluice {
namespace {

constexpr unsigned kFractionDigitsMax = 9;

/// Walks over the text; `ok` turns false at the first byte that does not fit.
struct Reader {
    std::string_view text;
    bool ok = true;

    unsigned digits(std::size_t count) noexcept {
        if (text.size() < count) {
            ok = false;
            return 0;
        }
        unsigned value = 0;
        for (std::size_t i = 0; i < count; ++i) {
            const unsigned digit = static_cast<unsigned char>(text[i]) - unsigned{'0'};
            ok = ok && digit <= 9;
            value = value * 10 + digit;
        }
        text.remove_prefix(count);
        return value;
    }

    bool accept(char first, char second) noexcept {
        const bool found = !text.empty() && (text.front() == first || text.front() == second);
        if (found) {
            text.remove_prefix(1);
        }
        return found;
    }

    void expect(char first, char second) noexcept { ok = accept(first, second) && ok; }
};

/// Days since 1970-01-01.
std::int64_t read_date(Reader& in) noexcept {
    const unsigned year = in.digits(4);
    in.expect('-', '-');
    const unsigned month = in.digits(2);
    in.expect('-', '-');
    const unsigned day = in.digits(2);
    if (!in.ok) {
        return 0;
    }
    const std::chrono::year_month_day calendar{std::chrono::year{static_cast<int>(year)},
                                               std::chrono::month{month}, std::chrono::day{day}};
    in.ok = calendar.ok();
    return in.ok ? std::chrono::sys_days{calendar}.time_since_epoch().count() : 0;
}

struct TimeOfDay {
    unsigned minutes = 0;  ///< Since midnight.
    unsigned second = 0;   ///< 60 is a leap second.
};

TimeOfDay read_time_of_day(Reader& in) noexcept {
    const unsigned hour = in.digits(2);
    in.expect(':', ':');
    const unsigned minute = in.digits(2);
    in.expect(':', ':');
    const unsigned second = in.digits(2);
    in.ok = in.ok && hour <= 23 && minute <= 59 && second <= 60;
    return {hour * 60 + minute, second};
}

std::uint32_t read_fraction(Reader& in) noexcept {
    if (!in.accept('.', '.')) {
        return 0;
    }
    std::uint32_t nanos = 0;
    unsigned count = 0;
    while (in.ok && count < kFractionDigitsMax && !in.text.empty() && in.text.front() >= '0' &&
           in.text.front() <= '9') {
        nanos = nanos * 10 + in.digits(1);
        ++count;
    }
    in.ok = in.ok && count > 0;
    for (; count < kFractionDigitsMax; ++count) {
        nanos *= 10;
    }
    return nanos;
}

/// Minutes east of UTC; 0 for `Z` and for none.
int read_offset_minutes(Reader& in) noexcept {
    if (in.text.empty() || in.accept('Z', 'z')) {
        return 0;
    }
    const int sign = in.text.front() == '-' ? -1 : 1;
    in.expect('+', '-');
    const unsigned hours = in.digits(2);
    in.expect(':', ':');
    const unsigned minutes = in.digits(2);
    in.ok = in.ok && hours <= 23 && minutes <= 59;
    return in.ok ? sign * static_cast<int>(hours * 60 + minutes) : 0;
}

/// Appends a number with leading zeros. Reports write several instants in each row, so this is not
/// snprintf.
/// @param value  Below 10 to the power of `width`.
void append_digits(std::string& text, std::uint32_t value, std::size_t width) {
    text.append(width, '0');
    for (std::size_t at = text.size(); value != 0; value /= 10) {
        text[--at] = static_cast<char>('0' + value % 10);
    }
}

}  // namespace

Parsed<Timestamp> Timestamp::parse(std::string_view text) noexcept {
    Reader in{text};
    const std::int64_t days = read_date(in);
    in.expect('T', 't');
    const TimeOfDay time = read_time_of_day(in);
    const std::uint32_t nanos = read_fraction(in);
    const int offset_minutes = read_offset_minutes(in);
    if (!in.ok || !in.text.empty()) {
        return std::nullopt;
    }
    const std::int64_t minute_start =
        days * kSecondsPerDay + (std::int64_t{time.minutes} - offset_minutes) * 60;
    // A leap second is one only as the last second of a UTC day.
    if (time.second == 60 && (minute_start + 60) % kSecondsPerDay != 0) {
        return std::nullopt;
    }
    const std::int64_t seconds = minute_start + time.second;
    if (seconds < kFirstInstant.seconds || seconds >= kEndOfTime.seconds) {
        return std::nullopt;
    }
    return Timestamp{seconds, nanos};
}

std::string Timestamp::to_string() const {
    const std::chrono::sys_seconds instant{std::chrono::seconds{seconds}};
    const auto midnight = std::chrono::floor<std::chrono::days>(instant);
    const std::chrono::year_month_day calendar{midnight};
    const auto second_of_day = static_cast<std::uint32_t>((instant - midnight).count());
    const int year = static_cast<int>(calendar.year());
    std::string text;
    text.reserve(sizeof("YYYY-MM-DDTHH:MM:SS.123456789Z"));
    if (year >= 0 && year <= 9999) {
        append_digits(text, static_cast<std::uint32_t>(year), 4);
    } else {
        text += std::to_string(year);  // kEndOfTime, or a damaged row
    }
    append_digits(text += '-', static_cast<unsigned>(calendar.month()), 2);
    append_digits(text += '-', static_cast<unsigned>(calendar.day()), 2);
    append_digits(text += 'T', second_of_day / 3600, 2);
    append_digits(text += ':', second_of_day / 60 % 60, 2);
    append_digits(text += ':', second_of_day % 60, 2);
    if (nanos != 0) {
        append_digits(text += '.', nanos, 9);
        text.resize(text.find_last_not_of('0') + 1);
    }
    text += 'Z';
    return text;
}

std::uint32_t month_of(Timestamp at) {
    return day_of(at) / 100;
}

std::string month_text(std::uint32_t month) {
    std::string text;
    append_digits(text, month / 100, 4);
    append_digits(text += '-', month % 100, 2);
    return text;
}

std::string day_text(std::uint32_t day) {
    std::string text = month_text(day / 100);
    append_digits(text += '-', day % 100, 2);
    return text;
}

Timestamp end_of_month(std::uint32_t month) {
    constexpr std::uint32_t kDecember = 12;
    return start_of_day((month % 100 < kDecember ? month + 1 : (month / 100 + 1) * 100 + 1) * 100 +
                        1);
}

std::uint32_t day_of(Timestamp at) {
    const std::chrono::sys_seconds instant{std::chrono::seconds{at.seconds}};
    const std::chrono::year_month_day calendar{std::chrono::floor<std::chrono::days>(instant)};
    // An offset may move an instant of year 0000 to the day before it.
    const auto year = static_cast<unsigned>(std::max(0, static_cast<int>(calendar.year())));
    return year * 10'000 + static_cast<unsigned>(calendar.month()) * 100 +
           static_cast<unsigned>(calendar.day());
}

Timestamp start_of_day(Timestamp at) {
    const std::int64_t into = (at.seconds % kSecondsPerDay + kSecondsPerDay) % kSecondsPerDay;
    return {at.seconds - into, 0};
}

Timestamp start_of_day(std::uint32_t day) {
    const std::chrono::sys_days start{std::chrono::year(static_cast<int>(day / 10'000)) /
                                      static_cast<int>(day / 100 % 100) /
                                      static_cast<int>(day % 100)};
    return {std::chrono::seconds(start.time_since_epoch()).count(), 0};
}

}  // namespace sluice
