// When shops sent events, and what reports make of it.
#include "core/lists/silence.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/ledger/overview_rows.hpp"
#include "unit/ledger/rules_fixture.hpp"

namespace sluice::test {
namespace {

constexpr std::string_view kFarNode = "22222222-2222-3333-4444-555555555555";

class SilenceTest : public testing::TestWithParam<LedgerKind> {
protected:
    /// Sends an order at this time.
    void order_at(Books& to, const std::string& time) {
        to.receive_at(time);
        OrderText order;
        order.id = "o" + std::to_string(++orders_);
        ASSERT_EQ(to.create(order).input_class, InputClass::kApplied);
    }
    std::vector<std::string> rows() { return rows_of(*ledger); }
    static std::vector<std::string> rows_of(Ledger& of) {
        std::vector<std::string> texts;
        of.snapshot(Books::kNode)->scan(ShopMinutes{}, {}, [&texts](const ShopMinutes& row) {
            std::string text = "shop " + std::to_string(row.shop.value) + ", node " +
                               std::to_string(row.node) + ", " + std::to_string(row.day) + ":";
            for (std::size_t hour = 0; hour < row.hours.size(); ++hour) {
                if (row.hours[hour] != 0) {
                    text += " " + std::to_string(hour) + "h " + std::to_string(row.hours[hour]);
                }
            }
            texts.push_back(text);
            return true;
        });
        return texts;
    }
    std::unique_ptr<LedgerReader> snapshot() { return ledger->snapshot(Books::kNode); }

    std::unique_ptr<Ledger> ledger = GetParam().make();
    Books books{*ledger};
    int orders_ = 0;
};
SLUICE_FOR_EVERY_LEDGER(SilenceTest);

TEST_P(SilenceTest, Z8_AMinuteWithAnEventIsABit) {
    order_at(books, "2026-03-01T10:00:01Z");
    order_at(books, "2026-03-01T10:00:59Z");
    order_at(books, "2026-03-01T10:05:00Z");
    order_at(books, "2026-03-01T23:59:59.999Z");
    EXPECT_EQ(rows(), std::vector<std::string>{"shop 1, node 1, 20260301: 10h 33 23h " +
                                               std::to_string(std::uint64_t{1} << 59)});
}

TEST_P(SilenceTest, X4_ADuplicateIsASignOfLife) {
    OrderText order;
    books.receive_at("2026-03-01T10:00:00Z");
    ASSERT_EQ(books.create(order).input_class, InputClass::kApplied);
    books.receive_at("2026-03-01T10:02:00Z");
    ASSERT_EQ(books.create(order).input_class, InputClass::kDuplicate);
    EXPECT_EQ(rows(), std::vector<std::string>{"shop 1, node 1, 20260301: 10h 5"});
    EXPECT_EQ(lists::silence_of(*snapshot(), kAcme, kShop)->last_event,
              instant("2026-03-01T10:02:00Z"));
}

TEST_P(SilenceTest, Z8_ADayTakesThePlaceOfTheOne35DaysBefore) {
    order_at(books, "2026-01-01T10:00:00Z");
    order_at(books, "2026-02-04T10:01:00Z");
    EXPECT_EQ(rows().size(), 2U);
    order_at(books, "2026-02-05T10:02:00Z");
    EXPECT_EQ(rows(), (std::vector<std::string>{"shop 1, node 1, 20260204: 10h 2",
                                                "shop 1, node 1, 20260205: 10h 4"}));
}

TEST_P(SilenceTest, Z8_AnEventOfAnEarlierDayChangesNoLaterOne) {
    order_at(books, "2026-02-05T10:02:00Z");
    order_at(books, "2026-01-01T10:00:00Z");
    EXPECT_EQ(rows(), std::vector<std::string>{"shop 1, node 1, 20260205: 10h 4"});
}

TEST_P(SilenceTest, Z8_ShopsAndNodesHaveRowsOfTheirOwn) {
    Books other(*ledger, kFarNode);
    order_at(books, "2026-03-01T10:00:00Z");
    order_at(other, "2026-03-01T10:01:00Z");
    books.from_shop("shop-2");
    order_at(books, "2026-03-01T10:02:00Z");
    EXPECT_EQ(rows(), (std::vector<std::string>{"shop 1, node 1, 20260301: 10h 1",
                                                "shop 1, node 2, 20260301: 10h 2",
                                                "shop 2, node 1, 20260301: 10h 4"}));
}

TEST_P(SilenceTest, Z8_ARebuildOfTwoQueuesHasTheMinuteOfEach) {
    Books other(*ledger, kFarNode);
    order_at(books, "2026-03-01T10:00:01Z");
    order_at(other, "2026-03-01T10:00:02Z");
    const std::unique_ptr<Ledger> rebuilt = make_ledger("Memory");
    Applier applier;  // one for both, as a rebuild has
    for (const auto& [node, archive] :
         {std::pair(Books::kNode, &books.archive()), std::pair(kFarNode, &other.archive())}) {
        const std::unique_ptr<LedgerTxn> txn = rebuilt->begin(node);
        applier.apply({archive->front().seq, archive->front().record, {}, {}, {}, {}}, *txn);
        txn->commit();
    }
    EXPECT_EQ(rows_of(*rebuilt), rows());
}

TEST_P(SilenceTest, X4_NodesAreJoined) {
    Books other(*ledger, kFarNode);
    // An event an hour for 20 days, in turn by one node and the other.
    Timestamp at = instant("2026-03-01T00:30:00Z");
    for (int hour = 0; hour < 20 * 24; ++hour) {
        order_at(hour % 2 == 0 ? books : other, at.to_string());
        at = at.plus_seconds(3600);
    }
    const auto silence = lists::silence_of(*snapshot(), kAcme, kShop);
    ASSERT_TRUE(silence);
    EXPECT_EQ(silence->last_event, at.plus_seconds(-3600));
    EXPECT_EQ(silence->usual, std::chrono::minutes(60));
    EXPECT_EQ(
        lists::silence_json(ShopId("shop-1"), silence, at.plus_seconds(3601)).compact(),
        R"({"state":"silent","sentence":"shop-1: nothing for 2 h; at this time 1 h is usual.",)"
        R"("silent":7200,"usual":3600,"limit":7200})");
    const auto of_account = lists::silences_of(*snapshot(), kAcme);
    ASSERT_EQ(of_account.size(), 1U);
    EXPECT_EQ(of_account.at(kShop).last_event, silence->last_event);
    EXPECT_TRUE(lists::silences_of(*snapshot(), AccountNumber{99}).empty());
    std::vector<std::uint32_t> shops;
    lists::scan_silences(*snapshot(), [&](ShopNumber shop, const lists::Silence& one) {
        shops.push_back(shop.value);
        EXPECT_EQ(one.last_event, silence->last_event);
    });
    EXPECT_EQ(shops, std::vector<std::uint32_t>{1});
}

TEST_P(SilenceTest, X4_AShopWithoutAnEventIsLearned) {
    EXPECT_FALSE(lists::silence_of(*snapshot(), kAcme, kShop));
    EXPECT_EQ(lists::silence_json(ShopId("shop-1"), {}, instant("2026-03-01T00:00:00Z")).compact(),
              R"({"state":"learning","sentence":"shop-1: no event yet.",)"
              R"("silent":null,"usual":null,"limit":null})");
}

TEST_P(SilenceTest, Z8_TheRowsDoNotDependOnTheBatches) {
    const std::vector<std::string> times{"2026-01-01T10:00:00Z", "2026-02-05T10:02:00Z",
                                         "2026-01-01T10:03:00Z", "2026-03-12T09:00:00Z",
                                         "2026-02-05T10:04:00Z", "2026-03-12T09:10:00Z"};
    const auto add = [&times](LedgerTxn& txn, std::size_t index, std::uint32_t slot) {
        ShopMinutes row;
        row.account = kAcme;
        row.shop = kShop;
        row.slot = slot;
        row.node = 1;
        row.day = day_of(instant(times[index]));
        row.hours[9] = std::uint64_t{1} << index;
        txn.add_row(row);
    };
    const auto together = ledger->begin(Books::kNode);
    for (std::size_t i = 0; i < times.size(); ++i) {
        add(*together, i, 1);
    }
    together->commit();
    for (std::size_t i = 0; i < times.size(); ++i) {
        const auto apart = ledger->begin(Books::kNode);
        add(*apart, i, 2);
        apart->commit();
    }
    const std::string both = "shop 1, node 1, 20260312: 9h " + std::to_string(1 << 3 | 1 << 5);
    EXPECT_EQ(rows(), (std::vector<std::string>{both, both}));
}

}  // namespace
}  // namespace sluice::test
