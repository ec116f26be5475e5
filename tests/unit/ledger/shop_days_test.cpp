// New orders of a shop by the day of their receipt, and those that stated a device id (clicks RP1).
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "core/ledger/overview_rows.hpp"
#include "core/lists/overview.hpp"
#include "unit/ledger/rules_fixture.hpp"

namespace sluice::test {
namespace {

class ShopDaysTest : public testing::TestWithParam<LedgerKind> {
protected:
    void order_at(Books& to, const std::string& time, std::string_view device = {}) {
        to.receive_at(time);
        OrderText order;
        order.id = "o" + std::to_string(++orders_);
        ASSERT_EQ(to.create(order, device).input_class, InputClass::kApplied);
    }
    static std::vector<std::string> day_rows(Ledger& of) {
        std::vector<std::string> texts;
        of.snapshot(Books::kNode)->scan(ShopDay{}, {}, [&texts](const ShopDay& row) {
            texts.push_back("shop " + std::to_string(row.shop.value) + ", node " +
                            std::to_string(row.node) + ", " + std::to_string(row.day) + ": " +
                            std::to_string(row.with_device) + " of " + std::to_string(row.orders));
        });
        return texts;
    }

    std::unique_ptr<Ledger> ledger = GetParam().make();
    Books books{*ledger};
    int orders_ = 0;
};
SLUICE_FOR_EVERY_LEDGER(ShopDaysTest);

TEST_P(ShopDaysTest, RP1_AnOrderCountsOnTheDayOfItsFirstEvent) {
    order_at(books, "2026-03-01T23:59:59Z", "d1");
    order_at(books, "2026-03-01T00:00:00Z");
    order_at(books, "2026-03-02T00:00:00Z");
    EXPECT_EQ(day_rows(*ledger), (std::vector<std::string>{"shop 1, node 1, 20260301: 1 of 2",
                                                           "shop 1, node 1, 20260302: 0 of 1"}));
}

TEST_P(ShopDaysTest, RP1_LaterEventsOfAnOrderCountNothing) {
    OrderText order;
    books.receive_at("2026-03-01T10:00:00Z");
    books.create(order);
    books.create(order);
    order.updated = "2026-03-02T10:00:00Z";
    books.receive_at("2026-03-02T10:00:00Z");
    ASSERT_EQ(books.update(order, "d1").input_class, InputClass::kApplied);
    EXPECT_EQ(day_rows(*ledger), std::vector<std::string>{"shop 1, node 1, 20260301: 0 of 1"});
}

TEST_P(ShopDaysTest, RP1_ADayTakesThePlaceOfTheOne35DaysBefore) {
    order_at(books, "2026-01-01T10:00:00Z");
    order_at(books, "2026-02-05T10:00:00Z", "d1");
    order_at(books, "2026-01-01T10:00:00Z");
    EXPECT_EQ(day_rows(*ledger), std::vector<std::string>{"shop 1, node 1, 20260205: 1 of 1"});
}

TEST_P(ShopDaysTest, RP1_TheRowsDoNotDependOnTheBatches) {
    const std::vector<std::uint32_t> days{20260101, 20260205, 20260101, 20260312, 20260312};
    const auto add = [&days](LedgerTxn& txn, std::size_t index, std::uint32_t slot) {
        txn.add_row(ShopDay{kAcme, kShop, slot, 1, days[index], 1, index % 2});
    };
    const auto together = ledger->begin(Books::kNode);
    for (std::size_t i = 0; i < days.size(); ++i) {
        add(*together, i, 1);
    }
    together->commit();
    for (std::size_t i = 0; i < days.size(); ++i) {
        const auto apart = ledger->begin(Books::kNode);
        add(*apart, i, 2);
        apart->commit();
    }
    const std::string both = "shop 1, node 1, 20260312: 1 of 2";
    EXPECT_EQ(day_rows(*ledger), (std::vector<std::string>{both, both}));
}

TEST_P(ShopDaysTest, RP1_CountsOfDaysAreAddedOverNodes) {
    Books other(*ledger, "22222222-2222-3333-4444-555555555555");
    order_at(books, "2026-03-01T10:00:00Z", "d1");
    order_at(other, "2026-03-02T10:00:00Z");
    order_at(books, "2026-03-03T10:00:00Z");
    books.from_shop("shop-2");
    order_at(books, "2026-03-02T10:00:00Z");
    const auto snapshot = ledger->snapshot(Books::kNode);
    const auto counts = lists::device_counts(*snapshot, kAcme, 20260301, 20260302);
    ASSERT_EQ(counts.size(), 2U);
    EXPECT_EQ(counts.at(kShop).orders, 2U);
    EXPECT_EQ(counts.at(kShop).with_device, 1U);
    EXPECT_EQ(counts.at(ShopNumber{2}).orders, 1U);
    EXPECT_TRUE(lists::device_counts(*snapshot, AccountNumber{99}, 0, 99999999).empty());
}

TEST_P(ShopDaysTest, RP1_AShopWithoutDeviceIdsIsNamedOnADayWithClicks) {
    const auto named = [this](const std::optional<AccountNumber>& account, std::uint32_t day) {
        std::string text;
        for (const auto& [of, shop, devices] :
             lists::shops_without_devices(*ledger->snapshot(Books::kNode), account, day)) {
            text += std::to_string(of.value) + "/" + std::to_string(shop.value) + ": " +
                    std::to_string(devices) + " ";
        }
        return text;
    };
    Program of_other_shop = program("outlet");
    of_other_shop.shops = {"shop-2"};
    books.apply({program("spring"), of_other_shop});
    const auto click = [this](std::string_view of, int devices) {
        const auto txn = ledger->begin(Books::kNode);
        ClickDay clicks;
        clicks.account = kAcme;
        clicks.day = 20260301;
        clicks.program = ProgramId(of);
        clicks.node = 1;
        clicks.devices = Decimal(devices, 0);
        txn->add_row(clicks);
        txn->commit();
    };
    order_at(books, "2026-03-01T10:00:00Z");
    EXPECT_EQ(named(kAcme, 20260301), "");
    click("outlet", 7);
    EXPECT_EQ(named(kAcme, 20260301), "") << "its visitors go to another shop";
    click("spring", 3);
    EXPECT_EQ(named(kAcme, 20260301), "1/1: 3 ");
    EXPECT_EQ(named(std::nullopt, 20260301), "1/1: 3 ");
    EXPECT_EQ(named(AccountNumber{99}, 20260301), "");
    EXPECT_EQ(named(kAcme, 20260302), "") << "no order";
    books.from_shop("shop-2");
    order_at(books, "2026-03-01T11:00:00Z");
    order_at(books, "2026-03-01T12:00:00Z", "d1");
    EXPECT_EQ(named(std::nullopt, 20260301), "1/1: 3 ");
}

}  // namespace
}  // namespace sluice::test
