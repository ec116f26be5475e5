#include <gtest/gtest.h>

#include <algorithm>

#include "core/ledger/sort_key.hpp"
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

struct Longest {
    std::string text = std::string(1024, 'x');
    void operator()(const char* /*name*/, auto& /*value*/) {}
    template <class Tag>
    void operator()(const char* /*name*/, TextId<Tag>& id) {
        id.assign(text);
    }
    void operator()(const char* /*name*/, std::string& id) { id = text; }
};

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
    for_each_described([&]<class Row>(const Row& /*empty*/) {
        Row row{};
        Longest fill;
        TableOf<Row>::key(row, fill);
        EXPECT_LE(row_key(row, 1).size(), kKeyBytesMax) << TableOf<Row>::kName;
    });
}

/// People's ids, and those that platforms give, are in the keys as they are.
TEST(LedgerKeys, IdsOfTheUsualLengthsAreWhole) {
    OrderSamples samples(9);
    for_each_described([&]<class Row>(const Row& /*empty*/) {
        const Row row = sample_row<Row>(samples, 48);
        CutTexts cut;
        (void)row_key(row, cut, 1);
        EXPECT_EQ(cut.which, 0U) << TableOf<Row>::kName;
    });
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
    for_each_described([&]<class Row>(const Row& /*empty*/) {
        Row a = sample_row<Row>(samples, 30);
        for (int i = 0; i < 200; ++i) {
            Row b = sample_row<Row>(samples, 30);
            EXPECT_EQ(row_key(a).view() < row_key(b).view(), sort_key(a) < sort_key(b));
            a = b;
        }
    });
}

/// A row whose key is all that is known: a cut text is left to the value.
TEST(LedgerKeys, ColumnsOfADescribedKeyComeBack) {
    OrderSamples samples(6);
    for_each_described([&]<class Row>(const Row& /*empty*/) {
        for (const std::size_t bytes_max : {20U, 128U, 1024U}) {
            Row row = sample_row<Row>(samples, bytes_max);
            CutTexts cut;
            const LedgerKey key = row_key(row, cut);
            LedgerKeyParser parser(key.view());
            if constexpr (TableOf<Row>::kPerNode) {
                EXPECT_EQ(parser.u32(), 0U) << "the node's number";
            }
            Row back{};
            KeyFields fields{parser, key_plan<Row>()};
            TableOf<Row>::key(back, fields);
            EXPECT_TRUE(parser.complete() && fields.sound) << TableOf<Row>::kName;
            EXPECT_EQ(fields.cut.which, cut.which) << TableOf<Row>::kName;
            if (cut.which == 0) {
                EXPECT_EQ(sort_key(back), sort_key(row));
            }
        }
    });
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
