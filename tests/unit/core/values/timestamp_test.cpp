#include "core/values/timestamp.hpp"

#include <gtest/gtest.h>

#include <random>

namespace sluice {
namespace {

std::string normalised(std::string_view text) {
    const auto parsed = Timestamp::parse(text);
    return parsed ? parsed->to_string() : "invalid";
}

TEST(TimestampRules, UtcInEitherCase) {
    EXPECT_EQ(normalised("2024-02-29T12:34:56Z"), "2024-02-29T12:34:56Z");
    EXPECT_EQ(normalised("2024-02-29t12:34:56z"), "2024-02-29T12:34:56Z");
    EXPECT_EQ(Timestamp::parse("1970-01-01T00:00:00Z"), Timestamp{});
    EXPECT_EQ(Timestamp::parse("2001-09-09T01:46:40Z"), (Timestamp{1'000'000'000, 0}));
    EXPECT_EQ(Timestamp::parse("1969-12-31T23:59:59.5Z"), (Timestamp{-1, 500'000'000}));
}

TEST(TimestampRules, NoOffsetMeansUtc) {
    EXPECT_EQ(normalised("2024-01-01T00:00:00"), "2024-01-01T00:00:00Z");
    EXPECT_EQ(normalised("2024-01-01T00:00:00.25"), "2024-01-01T00:00:00.25Z");
}

TEST(TimestampRules, OffsetIsNormalised) {
    EXPECT_EQ(normalised("2024-01-01T00:30:00+01:00"), "2023-12-31T23:30:00Z");
    EXPECT_EQ(normalised("2023-12-31T23:30:00-01:45"), "2024-01-01T01:15:00Z");
    EXPECT_EQ(normalised("2024-01-01T00:00:00-00:00"), "2024-01-01T00:00:00Z");
    EXPECT_EQ(normalised("2024-01-01T12:00:00+23:59"), "2023-12-31T12:01:00Z");
}

TEST(TimestampRules, UpTo9FractionDigitsComparedExactly) {
    EXPECT_EQ(normalised("2024-01-01T00:00:00.123456789Z"), "2024-01-01T00:00:00.123456789Z");
    EXPECT_EQ(normalised("2024-01-01T00:00:00.1200Z"), "2024-01-01T00:00:00.12Z");
    EXPECT_EQ(normalised("2024-01-01T00:00:00.000Z"), "2024-01-01T00:00:00Z");
    EXPECT_LT(*Timestamp::parse("2024-01-01T00:00:00.999999998Z"),
              *Timestamp::parse("2024-01-01T00:00:00.999999999Z"));
    EXPECT_EQ(normalised("2024-01-01T00:00:00.1234567890Z"), "invalid");
    EXPECT_EQ(normalised("2024-01-01T00:00:00.Z"), "invalid");
    EXPECT_EQ(normalised("2024-01-01T00:00:00,5Z"), "invalid");
}

TEST(TimestampRules, LeapSecondMeansTheNextSecond) {
    EXPECT_EQ(normalised("2016-12-31T23:59:60Z"), "2017-01-01T00:00:00Z");
    EXPECT_EQ(normalised("2016-12-31T23:59:60.75Z"), "2017-01-01T00:00:00.75Z");
    EXPECT_EQ(normalised("2016-12-31T18:59:60-05:00"), "2017-01-01T00:00:00Z");
    EXPECT_EQ(normalised("2016-12-31T23:59:60-05:00"), "invalid");
    EXPECT_EQ(normalised("2016-12-31T12:00:60Z"), "invalid");
    EXPECT_EQ(normalised("2016-12-31T23:59:61Z"), "invalid");
}

TEST(TimestampRules, CalendarIsChecked) {
    for (const char* text : {"2023-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2024-04-31T00:00:00Z",
                             "2024-00-01T00:00:00Z", "2024-13-01T00:00:00Z", "2024-01-00T00:00:00Z",
                             "2024-01-32T00:00:00Z", "2024-01-01T24:00:00Z", "2024-01-01T00:60:00Z",
                             "2024-01-01T00:00:00+24:00", "2024-01-01T00:00:00+00:60"}) {
        EXPECT_EQ(normalised(text), "invalid") << text;
    }
    EXPECT_EQ(normalised("2000-02-29T00:00:00Z"), "2000-02-29T00:00:00Z");
}

TEST(TimestampRules, OtherFormsAreRefused) {
    for (const char* text : {"",
                             "2024-01-01",
                             "2024-01-01 00:00:00Z",
                             "2024-01-01T00:00:00+0200",
                             "2024-01-01T00:00:00+02",
                             "2024-01-01T00:00Z",
                             "20240101T000000Z",
                             "2024-1-1T00:00:00Z",
                             "2024-01-01T00:00:00 Z",
                             "2024-01-01T00:00:00ZZ",
                             " 2024-01-01T00:00:00Z",
                             "2024-01-01T00:00:00Z ",
                             "+2024-01-01T00:00:00Z",
                             "-024-01-01T00:00:00Z",
                             "2024-W01-1T00:00:00Z",
                             "1704067200",
                             "2024-01-01T00:00:00+1:00",
                             "2024-01-01T-1:00:00Z",
                             "2024-01-01T00:00:0-Z",
                             "2024-01-01T00:00:00Z+01:00",
                             "12024-01-01T00:00:00Z"}) {
        EXPECT_EQ(normalised(text), "invalid") << text;
    }
}

TEST(TimestampRules, InstantsOutsideYears0000To9999AreRefused) {
    EXPECT_EQ(normalised("0000-01-01T00:00:00Z"), "0000-01-01T00:00:00Z");
    EXPECT_EQ(normalised("0000-01-01T00:00:00+00:01"), "invalid");
    EXPECT_EQ(normalised("0000-01-01T00:01:00+00:01"), "0000-01-01T00:00:00Z");
    EXPECT_EQ(normalised("9999-12-31T23:59:59.999999999Z"), "9999-12-31T23:59:59.999999999Z");
    EXPECT_EQ(normalised("9999-12-31T23:59:59-00:01"), "invalid");
    EXPECT_EQ(normalised("9999-12-31T23:59:60Z"), "invalid");
}

TEST(TimestampProperties, TextIsReadBackAndOrderIsKept) {
    std::mt19937_64 random(123);
    std::uniform_int_distribution<std::int64_t> seconds(-62'167'219'200, 253'402'300'799);
    std::uniform_int_distribution<std::uint32_t> nanos(0, 999'999'999);
    for (int i = 0; i < 20'000; ++i) {
        const Timestamp a{seconds(random), nanos(random)};
        const Timestamp b{seconds(random), nanos(random)};
        EXPECT_EQ(Timestamp::parse(a.to_string()), a);
        EXPECT_EQ(a < b, a.to_string().substr(0, 19) < b.to_string().substr(0, 19) ||
                             (a.seconds == b.seconds && a.nanos < b.nanos));
    }
}

}  // namespace
}  // namespace sluice
