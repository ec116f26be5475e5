// When a shop is silent. Ledger and command are elsewhere.
#include "core/statements/shop_silence.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

namespace sluice {
namespace {

using std::chrono::minutes;

constexpr std::int64_t kHour = 60;
constexpr std::int64_t kDay = 24 * kHour;
constexpr std::int64_t kFirst = 20'454 * kDay;  ///< 2026-01-01T00:00:00Z.

Timestamp at(std::int64_t minute) {
    return {minute * 60, 0};
}

/// Events every 5 to 20 minutes, and none between 23:05 and 07:05 UTC, from `days` before the day
/// of `last` up to and including `last`.
std::vector<std::int64_t> shop_with_nights(std::int64_t days, std::int64_t last) {
    constexpr std::array<std::int64_t, 5> kOfHour{5, 15, 20, 40, 52};  // Gaps: 10, 5, 20, 12, 13.
    const std::int64_t today = last - last % kDay;
    std::vector<std::int64_t> events;
    for (std::int64_t day = today - days * kDay; day <= today; day += kDay) {
        for (std::int64_t hour = 7; hour <= 23; ++hour) {
            for (const std::int64_t minute : kOfHour) {
                const std::int64_t event = day + hour * kHour + minute;
                if (event <= last && (hour < 23 || minute == 5)) {
                    events.push_back(event);
                }
            }
        }
    }
    return events;
}

/// An event at each full hour.
std::vector<std::int64_t> hourly(std::int64_t hours) {
    std::vector<std::int64_t> events;
    for (std::int64_t hour = 0; hour < hours; ++hour) {
        events.push_back(kFirst + hour * kHour);
    }
    return events;
}

/// Removes the events in (from, until), both in minutes since the first.
void remove_between(std::vector<std::int64_t>& events, std::int64_t from, std::int64_t until) {
    const std::int64_t first = events.front();
    std::erase_if(
        events, [=](std::int64_t event) { return event > first + from && event < first + until; });
}

TEST(ShopSilence, Example10ByDayIsSilentAfter40Minutes) {
    const std::int64_t last = kFirst + 10 * kHour + 5;
    const auto usual = usual_gap(shop_with_nights(34, last));
    ASSERT_EQ(usual, minutes{20});
    EXPECT_EQ(silence_limit(*usual), minutes{40});
    EXPECT_EQ(shop_silence(at(last), usual, at(last + 45)), ShopSilence::kSilent);
}

TEST(ShopSilence, Example10ByNightIsQuietFor16Hours) {
    const std::int64_t last = kFirst + 23 * kHour + 5;
    const auto usual = usual_gap(shop_with_nights(34, last));
    ASSERT_EQ(usual, minutes{8 * kHour});
    EXPECT_EQ(silence_limit(*usual), minutes{16 * kHour});
    EXPECT_EQ(shop_silence(at(last), usual, at(last + 6 * kHour + 55)), ShopSilence::kHeard);
}

TEST(ShopSilence, BeginsOnlyAfterTheLimit) {
    const Timestamp last = at(kFirst);
    const Timestamp limit = last.plus_seconds(40 * 60);
    EXPECT_EQ(shop_silence(last, minutes{20}, limit), ShopSilence::kHeard);
    EXPECT_EQ(shop_silence(last, minutes{20}, {limit.seconds, 1}), ShopSilence::kSilent);
}

TEST(ShopSilence, LimitIsAtLeast15Minutes) {
    EXPECT_EQ(silence_limit(minutes{7}), minutes{15});
    EXPECT_EQ(silence_limit(minutes{8}), minutes{16});
}

TEST(ShopSilence, LearnsFor14Days) {
    EXPECT_EQ(usual_gap(hourly(14 * 24)), std::nullopt) << "14 days less an hour";
    EXPECT_EQ(usual_gap(hourly(14 * 24 + 1)), minutes{60});
}

TEST(ShopSilence, LearnsFrom50MinutesWithEvents) {
    std::vector<std::int64_t> events;
    for (std::int64_t event = 0; event < 49; ++event) {
        events.push_back(kFirst + event * kDay / 2);
    }
    EXPECT_EQ(usual_gap(events), std::nullopt);
    events.push_back(kFirst + 49 * kDay / 2);
    EXPECT_EQ(usual_gap(events), minutes{kDay / 2});
    EXPECT_EQ(usual_gap({}), std::nullopt);
}

TEST(ShopSilence, LearningShopIsNeverSilent) {
    EXPECT_EQ(shop_silence(at(kFirst), std::nullopt, at(kFirst + 300 * kDay)),
              ShopSilence::kLearning);
}

TEST(ShopSilence, OneOutageDoesNotRaiseTheLimitTwoDo) {
    std::vector<std::int64_t> events = hourly(28 * 24 + 1);  // the last one is at 00:00
    remove_between(events, 9 * kDay, 9 * kDay + 5 * kHour);
    EXPECT_EQ(usual_gap(events), minutes{60});
    remove_between(events, 10 * kDay, 10 * kDay + 5 * kHour);
    EXPECT_EQ(usual_gap(events), minutes{60}) << "in the same week";
    remove_between(events, 16 * kDay, 16 * kDay + 3 * kHour);
    EXPECT_EQ(usual_gap(events), minutes{3 * kHour});
}

TEST(ShopSilence, GapsCountIfTheyBeganInTheHourOrANeighbourEvenAcrossMidnight) {
    constexpr std::array<std::pair<std::int64_t, std::int64_t>, 5> kUsualHours{
        {{22, 1}, {23, 5}, {24, 5}, {25, 5}, {26, 1}}};
    for (const auto& [hour, usual] : kUsualHours) {
        std::vector<std::int64_t> events = hourly(28 * 24 + 1);  // the last one is at 00:00
        for (const std::int64_t day : {2, 9, 16}) {
            const std::int64_t begin = day * kDay + hour * kHour;
            remove_between(events, begin, begin + 5 * kHour);
        }
        EXPECT_EQ(usual_gap(events), minutes{usual * kHour}) << hour;
    }
}

TEST(ShopSilence, GapsOlderThanFourWeeksDoNotCount) {
    std::vector<std::int64_t> events = hourly(34 * 24 + 1);
    remove_between(events, 2 * kDay, 2 * kDay + 5 * kHour);
    remove_between(events, 8 * kDay, 8 * kDay + 5 * kHour);
    EXPECT_EQ(usual_gap(events), minutes{60});
}

TEST(ShopSilence, WeekWithoutAGapAtThisTimeCountsWithItsLongest) {
    // A shop that is open from 08:05 to 16:00 sends one event at 03:00.
    std::vector<std::int64_t> events;
    for (std::int64_t day = 0; day < 20; ++day) {
        for (std::int64_t minute = 8 * kHour; minute <= 16 * kHour; minute += 30) {
            events.push_back(kFirst + day * kDay + minute);
        }
    }
    events.push_back(kFirst + 20 * kDay + 3 * kHour);
    EXPECT_EQ(usual_gap(events), minutes{16 * kHour});
}

TEST(ShopSilence, LearnsUntilTwoWeeksHaveAGap) {
    // 60 minutes with events, then one 20 days later: one week has all gaps.
    std::vector<std::int64_t> events;
    for (std::int64_t minute = 0; minute < 60; ++minute) {
        events.push_back(kFirst + minute);
    }
    events.push_back(kFirst + 20 * kDay);
    EXPECT_EQ(usual_gap(events), std::nullopt);
}

TEST(ShopSilence, SentenceNamesShopElapsedAndUsualTime) {
    const Timestamp last = at(kFirst);
    const ShopId shop("shop-1");
    EXPECT_EQ(silence_sentence(shop, last, minutes{60}, last.plus_seconds(190 * 60 + 59)),
              "shop-1: nothing for 3 h 10 min; at this time 1 h is usual.");
    EXPECT_EQ(silence_sentence(shop, last, minutes{20}, last.plus_seconds(45 * 60)),
              "shop-1: nothing for 45 min; at this time 20 min is usual.");
    EXPECT_EQ(silence_sentence(shop, last, std::nullopt, last.plus_seconds(120 * 60)),
              "shop-1: heard 2 h ago; too few events to say what is usual.");
}

TEST(ShopSilence, EventLaterThanTheClockWasHeardJustNow) {
    const Timestamp last = at(kFirst);
    const Timestamp now = last.plus_seconds(-300);
    EXPECT_EQ(silence_sentence(ShopId("shop-1"), last, minutes{60}, now),
              "shop-1: heard just now; at this time 1 h is usual.");
    EXPECT_EQ(shop_silence(last, minutes{60}, now), ShopSilence::kHeard);
}

}  // namespace
}  // namespace sluice
