#include <gtest/gtest.h>

#include <algorithm>

#include "core/ledger/table.hpp"
#include "lmdb_store/rows/row_keys.hpp"
#include "unit/lmdb_store/rows/row_samples.hpp"

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

TEST(LedgerKeys, NeverExceedTheLimitOfLmdb) {
    const std::string longest(1024, 'x');
    const std::string admin(128, 'p');
    const OrderKey order{{1}, {2}, OrderId(longest)};
    const CatalogKey product{{1}, {2}, ProductId(longest), "de", "AT"};
    JournalGroup group;
    group.creator = CreatorId(admin);
    for (const LedgerKey& key :
         {order_key(order), event_key(order, EventTrace{}),
          event_digest_key(order, Topic::kOrderCreate, {}), catalog_key(product),
          variant_key(product, longest), dated_key(group, 1),
          balance_prefix({{1}, ProgramId(admin), CreatorId(admin), currency_of("USD")}).u32(1)}) {
        EXPECT_LE(key.size(), kKeyBytesMax);
    }
    for (const DescribedTable& table : described_tables()) {
        AnyRow row(table);
        for (const Column& column : table.key) {
            void* const value = column.find(row.ref().get());
            if (column.kind == ColumnKind::kId) {
                static_cast<AnyTextId*>(value)->assign(longest);
            } else if (column.kind == ColumnKind::kText) {
                *static_cast<std::string*>(value) = longest;
            }
        }
        EXPECT_LE(row_key(row.view(), 1).size(), kKeyBytesMax) << table.name;
    }
}

/// People's ids, and those that platforms give, are in the keys as they are.
TEST(LedgerKeys, IdsOfTheUsualLengthsAreWhole) {
    OrderSamples samples(9);
    for (const DescribedTable& table : described_tables()) {
        const AnyRow row = sample_row(table, samples, 48);
        CutTexts cut;
        (void)row_key(row.view(), cut, 1);
        EXPECT_EQ(cut.which, 0U) << table.name;
    }
    PayoutItem item;
    item.payout_id = "P260201120000-ABCDEF-12";
    item.program = ProgramId("spring-2026");
    item.shop_id = ShopId("shop-1");
    item.order_id = OrderId(std::string(300, 'o'));
    item.line = LineItemId(std::string(90, 'l'));
    CutTexts cut;
    (void)row_key(item, cut);
    EXPECT_EQ(cut.which, 0U);
}

TEST(LedgerKeys, SortAsTheColumnsDoUnlessOnlyDigestsDiffer) {
    OrderSamples samples(4);
    for (const DescribedTable& table : described_tables()) {
        AnyRow a = sample_row(table, samples, 30);
        for (int i = 0; i < 200; ++i) {
            AnyRow b = sample_row(table, samples, 30);
            EXPECT_EQ(row_key(a.view()).view() < row_key(b.view()).view(),
                      sort_key(a.view()) < sort_key(b.view()));
            a = b;
        }
    }
}

/// A row whose key is all that is known: a cut text is left to the value.
TEST(LedgerKeys, ColumnsOfADescribedKeyComeBack) {
    OrderSamples samples(6);
    for (const DescribedTable& table : described_tables()) {
        for (const std::size_t bytes_max : {20U, 128U, 1024U}) {
            const AnyRow row = sample_row(table, samples, bytes_max);
            CutTexts cut;
            const LedgerKey key = row_key(row.view(), cut);
            AnyRow back(table);
            CutTexts found;
            EXPECT_TRUE(read_row_key(key.view(), back.ref(), found)) << table.name;
            EXPECT_EQ(found.which, cut.which) << table.name;
            if (cut.which == 0) {
                EXPECT_EQ(sort_key(back.view()), sort_key(row.view()));
            }
        }
    }
}

Membership member(const char* program, const char* creator) {
    Membership row;
    row.account = {1};
    row.program = ProgramId(program);
    row.creator = CreatorId(creator);
    return row;
}

TEST(LedgerKeys, AProgramIsNoPrefixOfAnother) {
    const LedgerKey prefix = row_key(member("spring", ""), 0, 2);
    EXPECT_FALSE(row_key(member("spring2", ""), 0, 2).view().starts_with(prefix.view()));
    EXPECT_TRUE(row_key(member("spring", "c")).view().starts_with(prefix.view()));
}

TEST(LedgerKeys, ComponentsComeBack) {
    OrderSamples samples(5);
    for (int i = 0; i < 5000; ++i) {
        std::string id = id_without_zero(samples, 420);
        LedgerKey key;
        key.u32(77).instant({-123, 456}).id(id, kIdBytesWholeVariant).end().bytes("EUR");
        LedgerKeyParser parser(key.view());
        EXPECT_EQ(parser.u32(), 77U);
        EXPECT_EQ(parser.instant(), (Timestamp{-123, 456}));
        const auto whole = parser.id(kIdBytesWholeVariant);
        EXPECT_EQ(whole.has_value(), !id_is_cut(id, kIdBytesWholeVariant));
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
