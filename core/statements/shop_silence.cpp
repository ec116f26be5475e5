#include "core/statements/shop_silence.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>

namespace sluice {
namespace {

using std::chrono::minutes;

constexpr std::size_t kLeastMinutes = 50;
constexpr std::size_t kWeeks = 4;
constexpr std::int64_t kMinutesPerHour = 60;
constexpr std::int64_t kMinutesPerDay = 24 * kMinutesPerHour;
constexpr std::int64_t kMinutesPerWeek = 7 * kMinutesPerDay;
constexpr std::int64_t kLeastSpan = 14 * kMinutesPerDay;
constexpr minutes kLeastLimit{15};

constexpr std::int64_t hour_of(std::int64_t minute) {
    return minute % kMinutesPerDay / kMinutesPerHour;
}

constexpr bool is_neighbour(std::int64_t hour, std::int64_t other) {
    const std::int64_t apart = (hour - other + 24) % 24;
    return apart <= 1 || apart == 23;
}

/// Longest gaps of a week in minutes; 0 without a gap.
struct WeekGaps {
    std::int64_t at_this_time = 0;
    std::int64_t at_any_time = 0;
};

/// Returns the time without an event, to the minute; 0 if the last event is later than `now`.
minutes silent_for(Timestamp last_event, Timestamp now) {
    return minutes{std::max<std::int64_t>(0, now.seconds - last_event.seconds) / 60};
}

std::string text_of(minutes length) {
    const std::int64_t hours = length.count() / kMinutesPerHour;
    const std::int64_t rest = length.count() % kMinutesPerHour;
    if (hours == 0) {
        return std::to_string(rest) + " min";
    }
    const std::string text = std::to_string(hours) + " h";
    return rest == 0 ? text : text + ' ' + std::to_string(rest) + " min";
}

}  // namespace

std::string_view to_string(ShopSilence verdict) noexcept {
    switch (verdict) {
        case ShopSilence::kHeard:
            return "heard";
        case ShopSilence::kSilent:
            return "silent";
        case ShopSilence::kLearning:
            break;
    }
    return "learning";
}

std::optional<minutes> usual_gap(std::span<const std::int64_t> event_minutes) {
    if (event_minutes.size() < kLeastMinutes ||
        event_minutes.back() - event_minutes.front() < kLeastSpan) {
        return std::nullopt;
    }
    const std::int64_t last = event_minutes.back();
    std::array<WeekGaps, kWeeks> weeks;
    for (std::size_t i = event_minutes.size() - 1; i > 0; --i) {
        const std::int64_t begin = event_minutes[i - 1];
        const std::int64_t gap = event_minutes[i] - begin;
        const auto weeks_ago = static_cast<std::size_t>((last - begin) / kMinutesPerWeek);
        if (weeks_ago >= kWeeks) {
            break;
        }
        WeekGaps& week = weeks[weeks_ago];
        week.at_any_time = std::max(week.at_any_time, gap);
        if (is_neighbour(hour_of(begin), hour_of(last))) {
            week.at_this_time = std::max(week.at_this_time, gap);
        }
    }
    std::array<std::int64_t, kWeeks> longest{};
    std::ranges::transform(weeks, longest.begin(), [](const WeekGaps& week) {
        return week.at_this_time != 0 ? week.at_this_time : week.at_any_time;
    });
    std::ranges::sort(longest, std::greater<>());
    return longest[1] != 0 ? std::optional(minutes{longest[1]}) : std::nullopt;
}

minutes silence_limit(minutes usual) noexcept {
    return std::max(usual * 2, kLeastLimit);
}

ShopSilence shop_silence(Timestamp last_event, std::optional<minutes> usual, Timestamp now) {
    if (!usual) {
        return ShopSilence::kLearning;
    }
    const std::int64_t limit = std::chrono::seconds(silence_limit(*usual)).count();
    return now > last_event.plus_seconds(limit) ? ShopSilence::kSilent : ShopSilence::kHeard;
}

std::string silence_sentence(const ShopId& shop, Timestamp last_event, std::optional<minutes> usual,
                             Timestamp now) {
    const bool is_silent = shop_silence(last_event, usual, now) == ShopSilence::kSilent;
    const minutes length = silent_for(last_event, now);
    const std::string since = text_of(length);
    return shop.str() +
           (is_silent             ? ": nothing for " + since
            : length.count() == 0 ? ": heard just now"
                                  : ": heard " + since + " ago") +
           (usual ? "; at this time " + text_of(*usual) + " is usual."
                  : "; too few events to say what is usual.");
}

}  // namespace sluice
