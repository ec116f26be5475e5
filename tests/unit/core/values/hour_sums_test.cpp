#include "core/values/hour_sums.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

namespace sluice {
namespace {

struct Sum {
    std::int64_t amounts = 0;
    Int128 units = 0;
};
using Sums = std::map<unsigned, Sum>;

std::string bytes_of(const Sums& sums) {
    std::string bytes;
    for (const auto& [hour, sum] : sums) {
        if (sum.amounts != 0 || sum.units != 0) {
            append_hour(bytes, {hour, sum.amounts, sum.units});
        }
    }
    return bytes;
}

TEST(HourSums, TheFormOfARow) {
    std::string bytes;
    append_hour(bytes, {0, 1, 250});
    append_hour(bytes, {191, -1, -1});
    EXPECT_EQ(bytes, std::string("\x00\x02\xF4\x03\xBF\x01\x01", 7));
}

TEST(HourSums, SpansAndHoursCountFromTheFirstInstant) {
    EXPECT_EQ(span_of(kFirstInstant), 0U);
    EXPECT_EQ(hour_in_span(kFirstInstant), 0U);
    const Timestamp last = kEndOfTime.plus_seconds(-1);
    EXPECT_EQ(start_of_hour(span_of(last), hour_in_span(last)), kEndOfTime.plus_seconds(-3600));
    const Timestamp before_1970{-1, 999'999'999};
    EXPECT_EQ(start_of_hour(span_of(before_1970), hour_in_span(before_1970)),
              (Timestamp{-3600, 0}));
}

TEST(HourSums, AdditionsInAnyOrderGiveTheBytesOfTheSums) {
    std::mt19937_64 random(7);  // NOLINT(cert-msc32-c,cert-msc51-cpp)
    const Int128 large = static_cast<Int128>(1) << 100;
    for (int round = 0; round < 300; ++round) {
        Sums expected;
        std::string bytes;
        for (int change = 0; change < 60; ++change) {
            Sums part;
            for (std::uint64_t i = random() % 4; i != 0; --i) {
                const auto hour = static_cast<unsigned>(random() % (round % 2 == 0 ? 6 : 192));
                const auto amounts = static_cast<std::int64_t>(random() % 3) - 1;
                part[hour] = {amounts, amounts * (random() % 9 == 0 ? large : Int128{70})};
            }
            for (const auto& [hour, sum] : part) {
                expected[hour].amounts += sum.amounts;
                expected[hour].units += sum.units;
            }
            ASSERT_TRUE(add_hours(bytes, bytes_of(part)));
        }
        ASSERT_EQ(bytes, bytes_of(expected));
    }
}

TEST(HourSums, ASumIsTakenOutWithoutATrace) {
    std::string bytes, one;
    append_hour(bytes, {3, 1, 500});
    append_hour(one, {3, -1, -500});
    EXPECT_TRUE(add_hours(bytes, one));
    EXPECT_EQ(bytes, "");
}

TEST(HourSums, DamagedBytesAreRefused) {
    std::string sound;
    append_hour(sound, {3, 1, 500});
    append_hour(sound, {9, 1, 500});
    std::string change;
    append_hour(change, {5, 1, 1});
    const std::vector<std::string> damaged{
        sound.substr(0, sound.size() - 1),                  // ends within a number
        sound + '\x0A',                                     // ends behind an hour
        sound + std::string("\xC0\x02\x02", 3),             // hour 192
        sound + '\x0A' + std::string(20, '\xFF') + '\x01',  // a number of 147 bits
    };
    for (const std::string& bytes : damaged) {
        std::string sums = bytes;
        EXPECT_FALSE(add_hours(sums, change));
        EXPECT_EQ(sums, bytes);
        sums = sound;
        EXPECT_FALSE(add_hours(sums, bytes));
        EXPECT_EQ(sums, sound);
    }
    const std::string repeated = sound + sound;
    HourReader twice(repeated);
    HourSum one;
    while (twice.next(one)) {
    }
    EXPECT_FALSE(twice.is_complete());
}

}  // namespace
}  // namespace sluice
