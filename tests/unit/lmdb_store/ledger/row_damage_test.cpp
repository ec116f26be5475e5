// Stored rows with any one byte changed, or cut: refused, or read as a row that can be written.
#include <gtest/gtest.h>

#include <functional>

#include "core/intake/registry_view.hpp"
#include "lmdb_store/archive/format.hpp"
#include "lmdb_store/ledger/order_value.hpp"
#include "lmdb_store/ledger/row_value.hpp"
#include "lmdb_store/registry/rows.hpp"
#include "unit/lmdb_store/ledger/samples.hpp"

namespace sluice::store {
namespace {

constexpr Timestamp kAt{1'700'000'000, 5};
const OrderKey kCutKey{{1}, {2}, OrderId(std::string(500, 'o'))};
const Decimal kWide(static_cast<Int128>(1) << 80, 2);

/// One kind of row. `reread`: nothing if the bytes are refused, else what is written of them.
struct RowKind {
    const char* name;
    std::string bytes;
    std::function<std::optional<std::string>(std::string_view)> reread;
};

/// @param decode  (bytes, row) -> bool    @param encode  (row) -> bytes
template <class Row, class Decode, class Encode>
RowKind kind_of(const char* name, const Row& sample, const Row& empty, Decode decode,
                Encode encode) {
    return {name, std::string(encode(sample)),
            [=](std::string_view bytes) -> std::optional<std::string> {
                Row row = empty;
                if (!decode(bytes, row)) {
                    return std::nullopt;
                }
                return std::string(encode(row));
            }};
}

template <class Row>
RowKind row_kind(const char* name, const Row& sample, const Row& empty = {}) {
    const auto value = std::make_shared<RowValue>();
    return kind_of<Row>(
        name, sample, empty,
        [=](std::string_view bytes, Row& row) { return value->decode(bytes, row); },
        [=](const Row& row) { return value->encode(row); });
}

OrderState small_order() {
    OrderSamples samples(3);
    OrderState order;
    order.key = {{1}, {2}, OrderId("o")};
    order.currency = currency_of("USD");
    order.amount = "1.00";
    order.tax = order.shipping = "0";
    order.cancelled_at = kAt;
    order.anon = samples.digest();
    order.codes = {"A", "B"};
    OrderLine& line = order.lines.emplace_back();
    line.id = LineItemId("l");
    line.sku = Sku("s");
    line.frozen.emplace().rate = {RateKind::kFixed, Decimal(150, 2), currency_of("KWD")};
    line.amount = kWide;
    order.refunds.push_back(samples.refund());
    order.attribution =
        Attribution{ProgramId("p"), CreatorId("c"), 1, {5}, Topic::kOrderCreate, kAt, {}};
    order.attribution->candidates.push_back({AttributionType::kLanded, ProgramId("q"),
                                             CreatorId("d"), 0, kAt,
                                             CandidateVerdict::kOlderTouch});
    order.dues.push_back({order.currency, kWide, {}, Decimal(1, 2)});
    order.paid = OrderPaid{order.currency, Decimal(5, 2), "9-1"};
    order.events.push_back(samples.event());
    order.other_groups = {7};
    return order;
}

RowKind order_kind(const char* name, const OrderState& order) {
    const auto value = std::make_shared<OrderValue>();
    OrderState empty;
    empty.key = order.key;
    return kind_of<OrderState>(
        name, order, empty,
        [=](std::string_view bytes, OrderState& row) { return value->decode(bytes, row); },
        [=](const OrderState& row) { return value->encode(row); });
}

JournalGroup sample_group() {
    JournalGroup group;
    group.order = {{1}, {2}, OrderId("o")};
    group.program = ProgramId("p");
    group.creator = CreatorId("c");
    group.note = "n";
    group.actor = "a";
    group.lines = {{LineItemId("l"), currency_of("USD"), kWide, JournalReason::kRefund},
                   {LineItemId("m"), currency_of("KWD"), Decimal(1, 3), JournalReason::kUpdate}};
    return group;
}

ProgramRow sample_program() {
    ProgramRow row;
    row.program.account_id = AccountId("acme");
    row.program.shops = {"s"};
    row.program.default_rate = *parse_rate("10%");
    row.program.rules.push_back({RuleMatch::kTag, "t", *parse_rate("1.50 USD")});
    return row;
}

std::vector<RowKind> ledger_kinds() {
    OrderState plain = small_order();
    plain.lines.front().amount = Decimal(100, 2);  // the short form of lines
    const auto value = std::make_shared<RowValue>();
    EventTrace event = OrderSamples(4).event();
    CatalogRecord record;
    record.key = {{1}, {2}, ProductId(std::string(500, 'p')), "de", ""};
    record.json = "{}";
    record.brand = "b";
    record.collections = record.tags = record.variant_skus = {"x"};
    Anomaly anomaly{kCutKey, AnomalyKind::kRefundIdReused, {3}, kAt, 1, "m"};
    DeadLetter letter;
    letter.topic = Topic::kOrderCreate;
    letter.account_id = letter.shop_id = letter.reason = letter.record = letter.bulk_body = "x";
    letter.body_sha256 = Digest256{};
    DeadLetter products_letter = letter;
    products_letter.topic = Topic::kProductUpsert;
    DeadLetter commands_letter = letter;
    commands_letter.topic = Topic::kAdjust;
    Work work;
    work.after_shop = ShopNumber{2};
    work.after_order = OrderId("o");
    OpenAmount open;
    open.order_id = kCutKey.order_id;
    NodeHead head;
    head.node = 1;
    head.head.next_entry = 1;
    Payout payout;
    payout.payout_id = payout.actor = "x";
    payout.program = ProgramId("p");
    payout.creator = CreatorId("c");
    payout.currency = currency_of("USD");
    return {
        order_kind("order", small_order()),
        order_kind("order with short lines", plain),
        kind_of<EventTrace>(
            "event", event, {},
            [=](std::string_view bytes, EventTrace& row) {
                OrderKey key = kCutKey;
                return value->decode_event(bytes, key, row);
            },
            [=](const EventTrace& row) { return value->encode_event(kCutKey, row); }),
        kind_of<StoredGroup>(
            "journal", {7, sample_group()}, {},
            [=](std::string_view bytes, StoredGroup& row) { return value->decode(bytes, row); },
            [=](const StoredGroup& row) { return value->encode(row.group, row.node); }),
        row_kind<RefundOwner>(
            "refund",
            {{}, {}, RefundLineItemId(std::string(500, 'r')), OrderId("o"), LineItemId("l")}),
        row_kind<OpenAmount>("open", open),
        row_kind<WaitingOrder>("waiting", {{}, {}, kCutKey.order_id}),
        kind_of<ProductId>(
            "variant", record.key.product_id, {},
            [=](std::string_view bytes, ProductId& row) {
                return value->decode_variant(bytes, row);
            },
            [=](const ProductId& row) { return value->encode_variant(row); }),
        row_kind<Anomaly>("anomaly", anomaly, {kCutKey, anomaly.kind, {}, {}, 0, {}}),
        row_kind<Balance>("balance", {{}, kWide, Decimal(-1, 2)}),
        row_kind<CodeRow>("code", {{1}, ProgramId("p"), {}, "CODE", CreatorId("c")}),
        row_kind<Membership>("membership", {{1}, ProgramId("p"), CreatorId("c"), true, {3}}),
        row_kind<Touch>("touch", {{1}, {}, ProgramId("p"), kAt, CreatorId("c"), {3}, 4}),
        row_kind<ProgramRow>("program", sample_program()),
        row_kind<CatalogRecord>("catalog", record),
        row_kind<sluice::ShopRow>("shop", {{1}, {2}, AccountId("acme"), ShopId("shop-1")}),
        row_kind<Payout>("payout", payout),
        row_kind<CommandRow>("command", {{1}, Topic::kProgramApply, "me", kAt, true, "done"}),
        row_kind<DeadLetter>("dead letter", letter),
        row_kind<DeadLetter>("dead letter of a product", products_letter),
        row_kind<DeadLetter>("dead letter of a command", commands_letter),
        row_kind<Work>("work", work),
        row_kind<ChainHead>("chain", {}),
        row_kind<NodeHead>("head", head),
    };
}

template <class Row>
RowKind registry_kind(const char* name, const Row& sample, std::string (*encode)(const Row&),
                      std::optional<Row> (*decode)(std::string_view, std::string_view)) {
    return {name, encode(sample), [=](std::string_view bytes) -> std::optional<std::string> {
                const std::optional<Row> row = decode("id", bytes);
                return row ? std::optional(encode(*row)) : std::nullopt;
            }};
}

std::vector<RowKind> registry_kinds() {
    const AccountRow account{AccountId("acme"), {1}, {0}, RateLimit{5, 60}, true, kAt};
    const ShopRow shop{ShopId("shop-1"), {1}, AccountId("acme"), {1}, false, kAt};
    const StoredToken token{
        {TokenId("t"), AccountId("acme"), kWriteOrders, kAt, kAt, kAt}, {1}, {}, "sealed"};
    return {
        registry_kind<AccountRow>("account", account, encode_account, decode_account),
        registry_kind<ShopRow>("shop", shop, encode_shop, decode_shop),
        registry_kind<StoredToken>("token", token, encode_token, decode_token),
    };
}

/// What an input in an archive's block is read and written as.
RowKind input_kind() {
    static const Digest256 digest = sha256("body");
    std::string bytes;
    append_input(bytes, {{9}, "record", ArchivedBody::kBulk, "bulk", digest, "reason"});
    return {"archived input", bytes, [](std::string_view raw) -> std::optional<std::string> {
                const auto input = take_input(raw);
                if (!input.ok()) {
                    return std::nullopt;
                }
                std::string again;
                append_input(again, *input);
                return again;
            }};
}

/// @return how many of the changed rows were refused.
int expect_refused_or_sound(const RowKind& kind) {
    int refused = 0;
    for (std::size_t at = 0; at < kind.bytes.size(); ++at) {
        for (const int mask : {0x01, 0x04, 0x80, 0xFF}) {
            std::string damaged = kind.bytes;
            damaged[at] = static_cast<char>(damaged[at] ^ mask);
            const auto first = kind.reread(damaged);
            if (!first) {
                ++refused;
                continue;
            }
            EXPECT_EQ(kind.reread(*first), first) << kind.name << " at " << at << " ^ " << mask;
        }
    }
    return refused;
}

TEST(RowDamage, ARowWithAByteChangedIsRefusedOrARow) {
    std::vector<RowKind> kinds = ledger_kinds();
    for (const RowKind& kind : registry_kinds()) {
        kinds.push_back(kind);
    }
    kinds.push_back(input_kind());
    for (const RowKind& kind : kinds) {
        EXPECT_EQ(kind.reread(kind.bytes), kind.bytes) << kind.name;
        EXPECT_GE(expect_refused_or_sound(kind), 4) << kind.name;
    }
}

TEST(RowDamage, ARowThatIsCutIsRefused) {
    std::vector<RowKind> kinds = ledger_kinds();
    for (const RowKind& kind : registry_kinds()) {
        kinds.push_back(kind);
    }
    for (const RowKind& kind : kinds) {
        EXPECT_EQ(kind.reread(""), std::nullopt) << kind.name;
        for (std::size_t cut = 1; cut < 12; ++cut) {
            EXPECT_EQ(kind.reread(std::string_view(kind.bytes).substr(0, cut)), std::nullopt)
                << kind.name << " of " << cut;
        }
        EXPECT_EQ(kind.reread(std::string_view(kind.bytes).substr(0, kind.bytes.size() / 2)),
                  std::nullopt)
            << kind.name;
    }
}

template <class Table>
std::string bytes_of(flatbuffers::FlatBufferBuilder& builder, flatbuffers::Offset<Table> root) {
    builder.Finish(root);
    return std::string(finished(builder));
}

/// What no encoder of this release writes, and FlatBuffers finds nothing wrong with.
TEST(RowDamage, AHeadHasAsManyAnomaliesAsThereAreKindsAtMost) {
    RowValue value;
    NodeHead head;
    const auto is_read = [&](const std::vector<std::uint64_t>* anomalies) {
        flatbuffers::FlatBufferBuilder builder;
        const auto counts = anomalies != nullptr ? builder.CreateVector(*anomalies) : 0;
        fbs::HeadBuilder table(builder);
        table.add_node(1);
        table.add_next_entry(1);
        if (anomalies != nullptr) {
            table.add_anomalies(counts);
        }
        return value.decode(bytes_of(builder, table.Finish()), head);
    };
    const std::vector<std::uint64_t> all(kAnomalyKinds, 3);
    const std::vector<std::uint64_t> too_many(kAnomalyKinds + 1, 3);
    const std::vector<std::uint64_t> older(2, 3);
    EXPECT_TRUE(is_read(&all));
    EXPECT_TRUE(is_read(&older)) << "of a release with fewer kinds";
    EXPECT_EQ(head.head.totals.anomalies[kAnomalyKinds - 1], 0U);
    EXPECT_FALSE(is_read(&too_many));
    EXPECT_FALSE(is_read(nullptr));
}

TEST(RowDamage, WhatAnOrderHasOpenIsNothingInADamagedOrder) {
    OrderValue value;
    const std::string bytes(value.encode(small_order()));
    OpenAmount row;
    row.currency = currency_of("USD");
    ASSERT_TRUE(value.decode_open(bytes, row));
    int refused = 0;
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        for (const int mask : {0x01, 0x04, 0x80, 0xFF}) {
            std::string damaged = bytes;
            damaged[at] = static_cast<char>(damaged[at] ^ mask);
            const bool taken = value.decode_open(damaged, row);
            refused += taken ? 0 : 1;
            EXPECT_TRUE(!taken || !row.amount.is_zero()) << at;
        }
    }
    EXPECT_GE(refused, 20);
    OrderState order = small_order();
    order.attribution.reset();
    EXPECT_FALSE(value.decode_open(std::string(value.encode(order)), row)) << "nobody's";
    order = small_order();
    order.dues.clear();
    EXPECT_FALSE(value.decode_open(std::string(value.encode(order)), row));
    EXPECT_EQ(value.order_id("no row"), std::nullopt);
    EXPECT_EQ(value.order_id(bytes), std::nullopt) << "the key holds it";
}

TEST(RowDamage, ARateIsKnownByItsScaleToo) {
    OrderValue value;
    OrderState order = small_order();
    order.lines.push_back(order.lines.front());
    order.lines.back().frozen->rate.value = Decimal(1500, 3);  // 1.500 as 1.50, as it was written
    OrderState decoded;
    decoded.key = order.key;
    ASSERT_TRUE(value.decode(std::string(value.encode(order)), decoded));
    EXPECT_EQ(decoded.lines[0].frozen->rate.value.to_string(), "1.50");
    EXPECT_EQ(decoded.lines[1].frozen->rate.value.to_string(), "1.500");
}

TEST(RowDamage, AnArchivedInputThatIsCutIsRefusedWhereverItIs) {
    const RowKind kind = input_kind();
    for (std::size_t cut = 0; cut < kind.bytes.size(); ++cut) {
        EXPECT_EQ(kind.reread(std::string_view(kind.bytes).substr(0, cut)), std::nullopt) << cut;
    }
}

TEST(RowDamage, ATextThatIsShorterThanItsLengthsOrLongerIsRefused) {
    RowValue value;
    StoredGroup stored{7, sample_group()};
    stored.group.order.order_id = OrderId("order-42");
    std::string bytes(value.encode(stored.group, 7));
    const std::size_t text = bytes.find("pcorder-42lm");
    ASSERT_NE(text, std::string::npos);
    for (const int step : {-1, 1}) {
        std::string damaged = bytes;
        damaged[text - 4] = static_cast<char>(damaged[text - 4] + step);  // the vector's length
        EXPECT_FALSE(value.decode(damaged, stored)) << step;
    }
    EXPECT_TRUE(value.decode(bytes, stored));
}

TEST(RowDamage, ASegmentsHeadUnderARightChecksumIsReadWithinItsLimits) {
    const std::string good = encode_segment_head({1, {1}, 0, "queue"});
    ASSERT_TRUE(decode_segment_head(good).ok());
    EXPECT_EQ(decode_segment_head(good.substr(1)).error().code, ErrorCode::kCorrupt) << "too short";
    for (std::size_t at = 0; at < good.size(); ++at) {
        std::string damaged = good;
        damaged[at] = static_cast<char>(damaged[at] ^ 0x40);
        EXPECT_EQ(decode_segment_head(damaged).error().code, ErrorCode::kCorrupt) << at;
    }
}

TEST(RowDamage, ABlockThatIsNotWhatItsHeadSaysIsRefused) {
    BlockPacker packer(1);
    const std::string raw(1000, 'x');
    const std::string block = packer.pack({1, {5}, {5}, 0, 0, 0}, raw);
    const BlockHead head = *decode_block_head(block);
    const std::string payload = block.substr(kBlockHeadBytes);
    EXPECT_EQ(*unpack_block(head, payload), raw);
    const auto refused = [&](const BlockHead& with, std::string_view what) {
        const auto unpacked = unpack_block(with, what);
        return !unpacked.ok() && unpacked.error().code == ErrorCode::kCorrupt;
    };
    EXPECT_TRUE(refused(head, payload.substr(1))) << "too short";
    std::string flipped = payload;
    flipped.back() = static_cast<char>(flipped.back() ^ 1);
    EXPECT_TRUE(refused(head, flipped)) << "another checksum";
    BlockHead other = head;
    other.raw_bytes -= 1;
    EXPECT_TRUE(refused(other, payload)) << "more comes out than was said";
    other.raw_bytes += 2;
    EXPECT_TRUE(refused(other, payload)) << "less comes out than was said";
    EXPECT_FALSE(decode_block_head(block.substr(0, kBlockHeadBytes - 1)).ok());
}

/// The head's figures are checked although its checksum is right: a writer may have been wrong.
TEST(RowDamage, ABlocksHeadWithFiguresThatCannotBeIsRefused) {
    EXPECT_TRUE(decode_block_head(encode_block_head({1, {5}, {6}, 10, 10, 0})).ok());
    EXPECT_FALSE(decode_block_head(encode_block_head({0, {5}, {6}, 10, 10, 0})).ok());
    EXPECT_FALSE(decode_block_head(encode_block_head({1, {6}, {5}, 10, 10, 0})).ok());
    EXPECT_FALSE(
        decode_block_head(encode_block_head({1, {5}, {6}, kBlockRawBytesMax + 1, 10, 0})).ok());
}

}  // namespace
}  // namespace sluice::store
