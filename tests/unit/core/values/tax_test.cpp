#include <gtest/gtest.h>

#include <string>

#include "core/values/money.hpp"

namespace sluice {
namespace {

std::string tax(const char* amount, const char* rate) {
    return tax_within(*Decimal::parse(amount), *Decimal::parse(rate)).to_string();
}

TEST(Tax, GrossRegionExampleOfTwentyPercent) {
    EXPECT_EQ(tax("120.00", "0.2"), "20.00");
    EXPECT_EQ(tax("120", "0.20"), "20.00");
}

TEST(Tax, RoundsOnceToTwoDigits) {
    EXPECT_EQ(tax("99.99", "0.19"), "15.96");   // 15.9648...
    EXPECT_EQ(tax("100.00", "0.07"), "6.54");   // 6.5420...
    EXPECT_EQ(tax("10.00", "0.2"), "1.67");     // 1.6666...
    EXPECT_EQ(tax("1000", "0.255"), "203.19");  // 203.187...
}

TEST(Tax, ATieGoesToTheEvenDigit) {
    EXPECT_EQ(tax("0.01", "1"), "0.00");  // 0.005
    EXPECT_EQ(tax("0.03", "1"), "0.02");  // 0.015
    EXPECT_EQ(tax("0.05", "1"), "0.02");  // 0.025
}

TEST(Tax, Extremes) {
    EXPECT_EQ(tax("0", "0.2"), "0.00");
    EXPECT_EQ(tax("120.00", "0"), "0.00");
    EXPECT_EQ(tax("999999999999999.999999", "999999999999999.999999"), "999999999999999.00");
}

}  // namespace
}  // namespace sluice
