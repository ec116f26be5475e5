// The times of shops' exports, and the verdict on an order.
#include "tool/reconcile/order_list.hpp"

#include <gtest/gtest.h>

#include "tool/reconcile/verdict.hpp"

namespace sluice::cli {
namespace {

std::string read(std::string_view text) {
    const auto time = parse_list_time(text);
    return time ? time->to_string() : "none";
}

TEST(OrderList, ReadsTheTimesOfShopsExports) {
    for (const char* text :
         {"2026-03-01T11:00:00Z", "2026-03-01 12:00:00 +0100", "2026-03-01 12:00:00+01:00",
          "2026-03-01 11:00:00 UTC", "2026-03-01 11:00:00", "2026-03-01T09:30:00 -0130"}) {
        EXPECT_EQ(read(text), "2026-03-01T11:00:00Z") << text;
    }
    for (const char* text : {"", "2026-03-01", "2026-03-01 ", "2026-03-01 12:00", "-",
                             "2026-03-01-0100", "2026-03-01 12:00:00 CET", "01/03/2026 12:00:00"}) {
        EXPECT_EQ(read(text), "none") << text;
    }
}

TEST(OrderList, MapsFieldsToColumns) {
    const auto map = parse_list_map("amount=Total (a=b),platform_order_id=Id");
    ASSERT_TRUE(map.ok());
    EXPECT_EQ((*map)[static_cast<std::size_t>(ListField::kAmount)], "Total (a=b)");
    EXPECT_EQ((*map)[static_cast<std::size_t>(ListField::kId)], "Id");
    for (const char* text : {"amount", "amount=", "=Total", "total=Total", "amount=A,amount=B"}) {
        EXPECT_FALSE(parse_list_map(text).ok()) << text;
    }
}

ListedOrder listed_at(Timestamp version) {
    ListedOrder listed;
    listed.order_id = "o1";
    listed.version = version;
    listed.amount = Decimal::parse("10.50");
    return listed;
}

TEST(ReconcileVerdict, AVersionDecidesBeforeTheAmounts) {
    OrderState stored;
    stored.version = {100, 0};
    stored.amount = "9.00";
    const Timestamp settled{1000, 0};
    EXPECT_EQ(judge(listed_at({101, 0}), &stored, settled).kind, OrderClass::kStale);
    EXPECT_EQ(judge(listed_at({99, 0}), &stored, settled).kind, OrderClass::kNewer);
    EXPECT_EQ(judge(listed_at({100, 0}), &stored, settled).kind, OrderClass::kDifferent);
    stored.amount = "10.5";
    EXPECT_EQ(judge(listed_at({100, 0}), &stored, settled).kind, OrderClass::kSame);
    EXPECT_EQ(judge(listed_at({100, 0}), nullptr, settled).kind, OrderClass::kMissing);
}

TEST(ReconcileVerdict, AYoungOrderMayStillBeOnItsWay) {
    OrderState stored;
    stored.version = {100, 0};
    stored.amount = "9.00";
    const Timestamp settled{99, 0};
    EXPECT_EQ(judge(listed_at({100, 0}), nullptr, settled).kind, OrderClass::kRecent);
    EXPECT_EQ(judge(listed_at({100, 0}), &stored, settled).kind, OrderClass::kRecent);
    EXPECT_EQ(judge(listed_at({99, 0}), nullptr, settled).kind, OrderClass::kMissing);
}

}  // namespace
}  // namespace sluice::cli
