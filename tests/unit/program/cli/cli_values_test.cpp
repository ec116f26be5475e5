#include "program/cli/cli_values.hpp"

#include <gtest/gtest.h>

#include <string>

#include "core/intake/registry_view.hpp"
#include "os/clock/clock.hpp"

namespace sluice::cli {
namespace {

TEST(RateLimitValue, IsRequestsPerSeconds) {
    ASSERT_TRUE(parse_rate_limit("600/60").ok());
    EXPECT_EQ(parse_rate_limit("600/60").value(), (RateLimit{600, 60}));
    EXPECT_EQ(to_string(RateLimit{5, 1}), "5/1");
    for (const char* wrong : {"", "600", "600/", "/60", "0/60", "600/0", "-1/60", "600/60s",
                              "6 00/60", "268435456/60", "600/31622401", "600/60/1", "+600/60"}) {
        EXPECT_FALSE(parse_rate_limit(wrong).ok()) << wrong;
    }
}

TEST(RateLimitValue, DefaultMeansNoLimitOfItsOwn) {
    ASSERT_TRUE(parse_rate_limit_or_default("default").ok());
    EXPECT_FALSE(parse_rate_limit_or_default("default").value().has_value());
    EXPECT_EQ(parse_rate_limit_or_default("5/2").value(), (RateLimit{5, 2}));
    EXPECT_FALSE(parse_rate_limit_or_default("none").ok());
}

TEST(ScopesValue, IsAListOfTheThreeScopes) {
    EXPECT_EQ(parse_scopes("write_orders").value(), kWriteOrders);
    EXPECT_EQ(parse_scopes("read_orders,write_products").value(), kWriteProducts | kReadOrders);
    for (const char* wrong :
         {"", "write", "write_orders,", ",write_orders", "write_orders, read_orders"}) {
        EXPECT_FALSE(parse_scopes(wrong).ok()) << wrong;
    }
    EXPECT_EQ(scope_names(kReadOrders | kWriteOrders),
              (std::vector<std::string>{"write_orders", "read_orders"}));
}

TEST(ExpiryValue, IsATimeOrASpanFromNow) {
    const Timestamp before = now_ms();
    const auto in_90_days = parse_expiry("90d");
    ASSERT_TRUE(in_90_days.ok());
    EXPECT_GE(in_90_days.value(), before.plus_seconds(90 * 86'400));
    EXPECT_LE(in_90_days.value(), now().plus_seconds(90 * 86'400));
    EXPECT_TRUE(parse_expiry("12h").ok());
    EXPECT_TRUE(parse_expiry("30m").ok());
    EXPECT_TRUE(parse_expiry("45s").ok());
    EXPECT_EQ(parse_expiry("2025-01-31T00:00:00Z").value().to_string(), "2025-01-31T00:00:00Z");
    for (const char* wrong :
         {"", "d", "90", "90w", "-1d", "1.5d", "99999999999999999999d", "2025-01-31"}) {
        EXPECT_FALSE(parse_expiry(wrong).ok()) << wrong;
    }
}

TEST(MonthValue, RunsToTheFirstInstantOfTheNext) {
    const auto february = parse_month("2024-02");
    ASSERT_TRUE(february.ok());
    EXPECT_EQ(february->from.to_string(), "2024-02-01T00:00:00Z");
    EXPECT_EQ(february->to.to_string(), "2024-03-01T00:00:00Z");
    EXPECT_EQ(parse_month("2024-12")->to.to_string(), "2025-01-01T00:00:00Z");
    for (const char* wrong :
         {"", "2024", "2024-13", "2024-00", "2024-1", "2024-02-01", "24-02", "9999-12"}) {
        EXPECT_FALSE(parse_month(wrong).ok()) << wrong;
    }
}

TEST(CountValue, IsWithinItsBounds) {
    EXPECT_EQ(parse_count("1", 1, 10).value(), 1u);
    EXPECT_EQ(parse_count("10", 1, 10).value(), 10u);
    for (const char* wrong : {"", "0", "11", "-1", "1.0", "1e1", " 1"}) {
        EXPECT_FALSE(parse_count(wrong, 1, 10).ok()) << wrong;
    }
}

TEST(AmountValue, MayBeNegative) {
    EXPECT_EQ(parse_amount("-12.50")->to_string(), "-12.50");
    for (const char* wrong : {"", "+1", "1,00", "1e3", "--1", "1.1234567"}) {
        EXPECT_FALSE(parse_amount(wrong).ok()) << wrong;
    }
}

}  // namespace
}  // namespace sluice::cli
