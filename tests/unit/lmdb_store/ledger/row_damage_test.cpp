// Stored values with any one byte changed, or cut: refused. Under a seal that fits, as a faulty
// writer might have left them: refused, or read as a row that can be written again.
#include <gtest/gtest.h>

#include <functional>
#include <memory>

#include "lmdb_store/rows/order_value.hpp"
#include "lmdb_store/rows/row_value.hpp"
#include "unit/lmdb_store/rows/row_samples.hpp"

namespace sluice::store {
namespace {

const std::string kKey = "key";
const std::string kLongId(500, 'o');

/// One kind of value. `reread`: nothing if the bytes are refused, else what is written of them.
struct ValueKind {
    std::string name;
    std::string bytes;
    std::function<std::optional<std::string>(std::string_view)> reread;
};

/// @param decode  (bytes, row) -> bool    @param encode  (row) -> bytes
template <class Row, class Decode, class Encode>
ValueKind kind_of(std::string name, const Row& sample, const Row& empty, Decode decode,
                  Encode encode) {
    return {std::move(name), std::string(encode(sample)),
            [=](std::string_view bytes) -> std::optional<std::string> {
                Row row = empty;
                if (!decode(bytes, row)) {
                    return std::nullopt;
                }
                return std::string(encode(row));
            }};
}

template <class Row>
ValueKind own_kind(const char* name, const Row& sample, const Row& empty = {}) {
    const auto value = std::make_shared<RowValue>();
    return kind_of<Row>(
        name, sample, empty,
        [](std::string_view bytes, Row& row) { return RowValue::decode(kKey, bytes, row); },
        [value](const Row& row) { return value->encode(kKey, row); });
}

/// Takes every text of a key for one that was cut.
CutTexts all_texts(RowView row) {
    CutTexts cut;
    std::size_t text = 0;
    const auto add = [&](std::string_view value) {
        cut.which |= 1U << text;
        cut.texts.at(text++) = value;
    };
    for (const Column& column : row.table().key) {
        if (column.kind == ColumnKind::kId) {
            add(static_cast<const AnyTextId*>(column.find(row.get()))->view());
        } else if (column.kind == ColumnKind::kText) {
            add(*static_cast<const std::string*>(column.find(row.get())));
        }
    }
    return cut;
}

/// With every text of the key in the value, as if each had been cut.
ValueKind described_kind(const DescribedTable& table, OrderSamples& samples) {
    const auto value = std::make_shared<RowValue>();
    const AnyRow sample = sample_row(table, samples, 30);
    return kind_of<AnyRow>(
        table.name, sample, AnyRow(table),
        [=](std::string_view bytes, AnyRow& row) {
            return RowValue::decode(kKey, all_texts(sample.view()), bytes, row.ref());
        },
        [=](const AnyRow& row) { return value->encode(kKey, all_texts(row.view()), row.view()); });
}

std::vector<ValueKind> kinds() {
    OrderSamples samples(3);
    OrderState order = samples.order({{1}, {2}, OrderId("o")});
    order.lines.resize(2);
    order.lines[0].id = LineItemId("l1");
    order.lines[1].id = LineItemId("l2");
    order.positions = {samples.position(order)};
    order.live = 0;
    order.events = {samples.event()};
    order.other_groups = {7};
    OrderState no_order;
    no_order.key = order.key;
    const auto order_value = std::make_shared<OrderValue>();
    const auto value = std::make_shared<RowValue>();
    const OrderKey cut_key{{1}, {2}, OrderId(kLongId)};
    JournalGroup group;
    group.program = ProgramId("p");
    group.creator = CreatorId("c");
    group.note = "n";
    group.entries = {
        {LineItemId("l"), currency_of("USD"), Decimal(5, 2), JournalReason::kRefund, 3},
        {LineItemId("m"), {}, {}, JournalReason::kMemoHeld, 0}};
    CatalogRecord record;
    record.key = {{1}, {2}, ProductId(kLongId), "de", ""};
    record.json = "{}";
    record.brand = "b";
    record.collections = record.tags = record.variant_skus = {"x"};
    NodeHead head;
    head.node = 1;
    head.head.node = kKey;
    std::vector<ValueKind> all = {
        kind_of<OrderState>(
            "orders", order, no_order,
            [=](std::string_view bytes, OrderState& row) {
                return order_value->decode(kKey, bytes, row);
            },
            [=](const OrderState& row) { return order_value->encode(kKey, row); }),
        kind_of<EventTrace>(
            "events", samples.event(), {},
            [=](std::string_view bytes, EventTrace& row) {
                OrderKey key = cut_key;
                return RowValue::decode_event(kKey, bytes, key, row);
            },
            [=](const EventTrace& row) { return value->encode_event(kKey, cut_key, row); }),
        kind_of<ProductId>(
            "variants", record.key.product_id, {},
            [=](std::string_view bytes, ProductId& row) {
                return RowValue::decode_variant(kKey, bytes, row);
            },
            [=](const ProductId& row) { return value->encode_variant(kKey, row); }),
        own_kind<JournalGroup>("journal", group),
        own_kind<Balance>("balances", {{Decimal(-1, 2), Decimal(1, 3), Decimal(0, 2)}, {}}),
        own_kind<CatalogRecord>("catalog", record),
        own_kind<ChainHead>("chains", {samples.digest(), 5, 3}),
        own_kind<NodeHead>("heads", head),
    };
    for (const DescribedTable& table : described_tables()) {
        all.push_back(described_kind(table, samples));
    }
    return all;
}

/// The fields of a value, changed, under a seal that fits.
std::string resealed(std::string fields) {
    const std::uint32_t seal = seal_of(kKey, fields);
    return fields.append(reinterpret_cast<const char*>(&seal), kSealBytes);
}

TEST(RowDamage, AValueWithAnyByteChangedIsRefused) {
    for (const ValueKind& kind : kinds()) {
        ASSERT_EQ(kind.reread(kind.bytes), kind.bytes) << kind.name;
        for (std::size_t at = 0; at < kind.bytes.size(); ++at) {
            for (const int mask : {0x01, 0x04, 0x80, 0xFF}) {
                std::string damaged = kind.bytes;
                damaged[at] = static_cast<char>(damaged[at] ^ mask);
                EXPECT_EQ(kind.reread(damaged), std::nullopt) << kind.name << " at " << at;
            }
        }
    }
}

TEST(RowDamage, AValueThatIsCutOrLongerIsRefused) {
    for (const ValueKind& kind : kinds()) {
        for (std::size_t cut = 0; cut < kind.bytes.size(); ++cut) {
            EXPECT_EQ(kind.reread(std::string_view(kind.bytes).substr(0, cut)), std::nullopt)
                << kind.name << " of " << cut;
        }
        EXPECT_EQ(kind.reread(kind.bytes + '\0'), std::nullopt) << kind.name;
        const std::string fields = kind.bytes.substr(0, kind.bytes.size() - kSealBytes);
        EXPECT_EQ(kind.reread(resealed(fields + '\0')), std::nullopt) << kind.name;
        for (std::size_t cut = 1; cut < fields.size(); ++cut) {
            EXPECT_EQ(kind.reread(resealed(fields.substr(0, cut))), std::nullopt)
                << kind.name << " of " << cut;
        }
    }
}

TEST(RowDamage, AChangedValueUnderASealThatFitsIsRefusedOrARow) {
    int refused = 0;
    int taken = 0;
    for (const ValueKind& kind : kinds()) {
        const std::string fields = kind.bytes.substr(0, kind.bytes.size() - kSealBytes);
        for (std::size_t at = 0; at < fields.size(); ++at) {
            for (const int flip : {1, 2, 4, 8, 16, 32, 64, 128, 255}) {
                std::string damaged = fields;
                damaged[at] = static_cast<char>(damaged[at] ^ flip);
                const auto first = kind.reread(resealed(damaged));
                ++(first ? taken : refused);
                if (first) {
                    ASSERT_EQ(kind.reread(*first), first)
                        << kind.name << " at " << at << " ^ " << flip;
                }
            }
        }
    }
    EXPECT_GT(refused, 1000);
    EXPECT_GT(taken, 1000);
}

/// Values that no writer writes: each of them has a shorter form, or is out of its range.
TEST(RowDamage, OneNumberHasOneForm) {
    const auto is_read = [](std::string fields, auto value) {
        const std::string bytes = resealed(std::move(fields));
        FieldReader reader(kKey, bytes);
        reader(value);
        return reader.complete();
    };
    using namespace std::string_literals;
    const std::string most(9, '\xff');
    EXPECT_TRUE(is_read("\x00"s, std::uint64_t{}));
    EXPECT_TRUE(is_read(most + "\x01", std::uint64_t{}));
    EXPECT_FALSE(is_read("\x80\x00"s, std::uint64_t{})) << "a zero in front";
    EXPECT_FALSE(is_read(most + "\x02", std::uint64_t{})) << "65 bits";
    EXPECT_FALSE(is_read(most + "\x81\x00"s, std::uint64_t{})) << "11 bytes";
    EXPECT_FALSE(is_read("\x80"s, std::uint64_t{})) << "no end";
    EXPECT_TRUE(is_read("\xff\xff\xff\xff\x0f"s, std::uint32_t{}));
    EXPECT_FALSE(is_read("\x80\x80\x80\x80\x10"s, std::uint32_t{}));
    EXPECT_FALSE(is_read("\x80\x02"s, std::uint8_t{}));
    EXPECT_FALSE(is_read("\x02"s, bool{}));
    EXPECT_FALSE(is_read("\x01\x00"s, Timestamp{})) << "nanoseconds that are none";
    EXPECT_FALSE(is_read("\x01\x80\x94\xeb\xdc\x03"s, Timestamp{})) << "10^9 nanoseconds";
    EXPECT_FALSE(is_read(most + "\x01", Timestamp{})) << "no such year";
    EXPECT_TRUE(is_read("\x0c"s, Decimal{}));
    EXPECT_FALSE(is_read("\x0d"s, Decimal{})) << "13 digits behind the point";
    EXPECT_FALSE(is_read("\x80\x00"s, Decimal{})) << "a zero in front";
    EXPECT_FALSE(is_read("\xf0"s + std::string(17, '\xff') + "\x01", Decimal{})) << "too large";
    EXPECT_FALSE(is_read("\xf0"s + std::string(18, '\xff') + "\x01", Decimal{})) << "too long";
    EXPECT_TRUE(is_read("USD"s, Currency{}));
    EXPECT_FALSE(is_read("USX"s, Currency{}));
    EXPECT_FALSE(is_read("US"s, Currency{}));
    EXPECT_FALSE(is_read("\x05zwei"s, std::string{})) << "a text that is longer than the value";
}

TEST(RowDamage, AListThatIsLongerThanTheValueIsRefused) {
    const std::string bytes = resealed("\xff\xff\xff\xff\xff\xff\x7f");
    FieldReader reader(kKey, bytes);
    std::vector<std::string> rows;
    reader.each(rows, [&](std::string& row) { reader(row); });
    EXPECT_FALSE(reader.ok());
    EXPECT_TRUE(rows.empty());
}

}  // namespace
}  // namespace sluice::store
