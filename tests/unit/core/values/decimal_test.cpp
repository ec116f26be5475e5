#include "core/values/decimal.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace sluice {
namespace {

Decimal decimal(std::string_view text) {
    const auto parsed = Decimal::parse_signed(text);
    EXPECT_TRUE(parsed) << text;
    return parsed.value_or(Decimal());
}

TEST(DecimalRules, WireFormIsDigitsAndAnOptionalFraction) {
    for (const char* text : {"0", "7", "12.5", "0.000001", "999999999999999.999999", "007.10"}) {
        EXPECT_TRUE(Decimal::parse(text)) << text;
    }
    for (const char* text :
         {"",      ".",   "1.",  ".5",  "-1",       "+1",   "1e3", "1E3",  "1,000",    " 1", "1 ",
          "1.2.3", "0x1", "1_0", "NaN", "Infinity", "1.-2", "--1", "1.5-", "\xd9\xa1", "1\n"}) {
        EXPECT_FALSE(Decimal::parse(text)) << text;
    }
    EXPECT_FALSE(Decimal::parse(std::string_view("1\0", 2)));
}

TEST(DecimalRules, AtMost15DigitsBeforeAnd6AfterThePoint) {
    EXPECT_TRUE(Decimal::parse("123456789012345"));
    EXPECT_FALSE(Decimal::parse("1234567890123456"));
    EXPECT_FALSE(Decimal::parse("0000000000000001"));
    EXPECT_TRUE(Decimal::parse("1.123456"));
    EXPECT_FALSE(Decimal::parse("1.1234567"));
    EXPECT_FALSE(Decimal::parse("1.1000000"));
    EXPECT_FALSE(Decimal::parse(std::string(1'000'000, '9')));
    EXPECT_FALSE(Decimal::parse("1." + std::string(1'000'000, '0')));
}

TEST(DecimalRules, LeadingZerosAreAccepted) {
    EXPECT_EQ(decimal("000012.50"), decimal("12.5"));
}

TEST(DecimalRules, ValueIsExact) {
    const Decimal value = decimal("999999999999999.999999");
    EXPECT_EQ(value.scale(), 6);
    EXPECT_EQ(value.to_string(), "999999999999999.999999");
    EXPECT_TRUE(value.unscaled() == Int128{999'999'999'999'999} * 1'000'000 + 999'999);
}

TEST(DecimalRules, SignedFormTakesOneMinus) {
    EXPECT_EQ(decimal("-12.50").to_string(), "-12.50");
    EXPECT_TRUE(decimal("-1").is_negative());
    EXPECT_FALSE(Decimal::parse_signed("--1"));
    EXPECT_FALSE(Decimal::parse_signed("+1"));
    EXPECT_FALSE(Decimal::parse_signed("-"));
}

TEST(DecimalRules, ComparesValuesNotText) {
    EXPECT_EQ(decimal("1.0"), decimal("1.000"));
    EXPECT_LT(decimal("-1.01"), decimal("-1"));
    EXPECT_GT(decimal("10"), decimal("9.999999"));
    EXPECT_EQ(decimal("-0"), decimal("0.00"));
}

TEST(DecimalRules, SumAndDifferenceHaveTheLargerScale) {
    EXPECT_EQ((decimal("1.5") + decimal("2.25")).to_string(), "3.75");
    EXPECT_EQ((decimal("1") - decimal("2.250")).to_string(), "-1.250");
    EXPECT_EQ((decimal("0.1") + decimal("0.2")).to_string(), "0.3");
}

TEST(DecimalRules, RescalingKeepsTheValue) {
    EXPECT_EQ(decimal("12.5").rescaled(12).to_string(), "12.500000000000");
    EXPECT_EQ(decimal("12.5").rescaled(12), decimal("12.5"));
}

TEST(DecimalRules, FormatWritesEveryDigitAfterThePoint) {
    EXPECT_EQ(format_scaled(0, 0), "0");
    EXPECT_EQ(format_scaled(0, 2), "0.00");
    EXPECT_EQ(format_scaled(5, 3), "0.005");
    EXPECT_EQ(format_scaled(-5, 1), "-0.5");
    EXPECT_EQ(format_scaled(-1250, 2), "-12.50");
    const Int128 lowest = -Int128{0x7fff'ffff'ffff'ffff} * 1'000'000'000;
    EXPECT_EQ(format_scaled(lowest, 0), "-9223372036854775807000000000");
}

TEST(DecimalProperties, ParsedTextIsReadBackWithoutLeadingZeros) {
    std::mt19937_64 random(123);
    for (int i = 0; i < 20'000; ++i) {
        std::string text = std::to_string(random() % 1'000'000'000'000'000);
        if (const auto digits = random() % 7; digits > 0) {
            text += '.';
            for (unsigned d = 0; d < digits; ++d) {
                text += static_cast<char>('0' + random() % 10);
            }
        }
        EXPECT_EQ(decimal(text).to_string(), text);
        EXPECT_EQ((decimal(text) - decimal(text)).is_zero(), true);
    }
}

}  // namespace
}  // namespace sluice
