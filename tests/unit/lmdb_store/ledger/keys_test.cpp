#include "lmdb_store/ledger/keys.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "unit/lmdb_store/ledger/samples.hpp"

namespace sluice::store {
namespace {

std::string id_without_zero(OrderSamples& samples, std::size_t bytes_max) {
    std::string id = samples.text(bytes_max);
    if (samples.chance()) {
        std::fill(id.begin(), id.end(), 'a');  // shared beginnings
    }
    return id;
}

TEST(LedgerKeys, SortAsTheIdsDoUpToTheCut) {
    OrderSamples samples(1);
    for (int i = 0; i < 20'000; ++i) {
        const OrderKey a{{7}, {8}, OrderId(id_without_zero(samples, 1024))};
        const OrderKey b{{7}, {8}, OrderId(id_without_zero(samples, 1024))};
        const std::string_view a_id = a.order_id.view();
        const std::string_view b_id = b.order_id.view();
        const bool only_digests_differ =
            id_is_cut(a_id, kIdBytesWhole) && id_is_cut(b_id, kIdBytesWhole) &&
            a_id.substr(0, kIdBytesWhole) == b_id.substr(0, kIdBytesWhole);
        const LedgerKey a_key = order_key(a);
        const LedgerKey b_key = order_key(b);
        EXPECT_EQ(a_key.view() == b_key.view(), a_id == b_id);
        if (!only_digests_differ) {
            EXPECT_EQ(a_key.view() < b_key.view(), a_id < b_id);
        }
    }
}

TEST(LedgerKeys, NeverExceedWhatLmdbTakes) {
    const std::string longest(1024, 'x');
    const std::string admin(128, 'p');
    const OrderKey order{{1}, {2}, OrderId(longest)};
    OpenAmount open;
    open.program = ProgramId(admin);
    open.order_id = order.order_id;
    open.currency = currency_of("USD");
    Touch touch;
    touch.program = ProgramId(admin);
    touch.creator = CreatorId(admin);
    const CatalogKey product{{1}, {2}, ProductId(longest), "de", "AT"};
    for (const LedgerKey& key :
         {order_key(order), event_digest_key(order, Topic::kOrderCreate, {}),
          row_key(WaitingOrder{{{1}, WaitKind::kAnon, {}}, {2}, order.order_id}), row_key(open),
          row_key(touch), catalog_key(product), variant_key(product, longest),
          row_key(RefundOwner{{1}, {2}, RefundLineItemId(longest), {}, {}})}) {
        EXPECT_LE(key.view().size(), kKeyBytesMax);
    }
}

TEST(LedgerKeys, AnOpenAmountSortsByOrderTimeThenShopThenOrder) {
    OpenAmount first;
    first.program = ProgramId("p");
    first.ordered_at = {-5, 1};
    first.shop = {9};
    first.order_id = OrderId("z");
    first.currency = currency_of("USD");
    OpenAmount second = first;
    second.ordered_at = {-5, 2};
    second.shop = {1};
    OpenAmount third = second;
    third.ordered_at = {5, 0};
    third.order_id = OrderId("a");
    OpenAmount fourth = third;
    fourth.order_id = OrderId("aa");
    EXPECT_LT(row_key(first).view(), row_key(second).view());
    EXPECT_LT(row_key(second).view(), row_key(third).view());
    EXPECT_LT(row_key(third).view(), row_key(fourth).view());
    fourth.adjustment = true;
    first.adjustment = false;
    EXPECT_LT(row_key(first).view(), row_key(fourth).view());
}

TEST(LedgerKeys, AProgramIsNoPrefixOfAnother) {
    const LedgerKey prefix = row_key(Membership{{1}, ProgramId("spring"), {}, false, {}}, 0, 2);
    EXPECT_FALSE(row_key(Membership{{1}, ProgramId("spring2"), {}, false, {}}, 0, 2)
                     .view()
                     .starts_with(prefix.view()));
    EXPECT_TRUE(row_key(Membership{{1}, ProgramId("spring"), CreatorId("c"), false, {}})
                    .view()
                    .starts_with(prefix.view()));
}

TEST(LedgerKeys, ComponentsComeBack) {
    OrderSamples samples(5);
    for (int i = 0; i < 5000; ++i) {
        std::string id = id_without_zero(samples, 420);
        LedgerKey key;
        key.u32(77).instant({-123, 456}).id(id, kIdBytesWholeOpen).end().bytes("EUR");
        LedgerKeyParser parser(key.view());
        EXPECT_EQ(parser.u32(), 77U);
        EXPECT_EQ(parser.instant(), (Timestamp{-123, 456}));
        const auto whole = parser.id(kIdBytesWholeOpen);
        EXPECT_EQ(whole.has_value(), !id_is_cut(id, kIdBytesWholeOpen));
        if (whole) {
            EXPECT_EQ(*whole, id);
        }
        EXPECT_EQ(parser.bytes(3), "EUR");
        EXPECT_TRUE(parser.complete());
    }
}

TEST(LedgerKeys, AShortKeyIsNoKey) {
    LedgerKeyParser parser("abc");
    EXPECT_EQ(parser.u64(), 0U);
    EXPECT_FALSE(parser.ok());
    LedgerKeyParser text("no end");
    EXPECT_EQ(text.text(), "");
    EXPECT_FALSE(text.complete());
}

}  // namespace
}  // namespace sluice::store
