// Rows of ledger and registry, and the archive's blocks: any bytes are refused or read within their
// bounds. A row that was read, written and read again is the same.
//
// The first byte chooses the kind; make_seeds.py knows the same order.
#include <array>
#include <string>
#include <utility>

#include "check.hpp"
#include "lmdb_store/archive/format.hpp"
#include "lmdb_store/registry/rows.hpp"
#include "lmdb_store/rows/order_value.hpp"
#include "lmdb_store/rows/row_value.hpp"

namespace {

using namespace sluice;
using store::OrderValue;
using store::RowValue;

/// Any key will do, but an order's id is in its value only if the key cuts it.
const std::string kKey(
    store::order_key({{1}, {2}, OrderId(std::string(store::kIdBytesWhole + 1, 'o'))}).view());

/// Rows of the ledger are sealed: the bytes that are tried are their fields, under a seal that
/// fits.
std::string sealed(std::string_view fields) {
    const std::uint32_t seal = store::seal_of(kKey, fields);
    return std::string(fields).append(reinterpret_cast<const char*>(&seal), sizeof(seal));
}

template <class Row, class Encode, class Decode>
void check_codec(std::string_view fields, Encode&& encode, Decode&& decode) {
    Row row{};
    if (!decode(sealed(fields), row)) {
        return;
    }
    const std::string first(encode(row));
    Row again{};
    FUZZ_CHECK(decode(first, again));
    FUZZ_CHECK(encode(again) == first);
}

template <class Row>
void check_row(std::string_view fields) {
    static RowValue value;
    check_codec<Row>(
        fields, [](const Row& row) { return value.encode(kKey, row); },
        [](std::string_view bytes, Row& row) { return RowValue::decode(kKey, bytes, row); });
}

void check_described(const DescribedTable& table, std::string_view fields) {
    static RowValue value;
    AnyRow row(table);
    if (!RowValue::decode(kKey, {}, sealed(fields), row.ref())) {
        return;
    }
    const std::string first(value.encode(kKey, {}, row.view()));
    AnyRow again(table);
    FUZZ_CHECK(RowValue::decode(kKey, {}, first, again.ref()));
    FUZZ_CHECK(value.encode(kKey, {}, again.view()) == first);
}

/// Checks a row whose id is in its key, or in the row if the key had to truncate it.
void check_catalog(std::string_view fields) {
    static RowValue value;
    check_codec<CatalogRecord>(
        fields, [](const CatalogRecord& row) { return value.encode(kKey, row); },
        [](std::string_view bytes, CatalogRecord& row) {
            row.key.product_id = ProductId("p");
            return RowValue::decode(kKey, bytes, row);
        });
    CatalogRecord cut;
    static_cast<void>(RowValue::decode(kKey, sealed(fields), cut));
}

void check_order(std::string_view fields) {
    static OrderValue value;
    check_codec<OrderState>(
        fields, [](const OrderState& state) { return value.encode(kKey, state); },
        [](std::string_view bytes, OrderState& state) {
            state.key = {{1}, {2}, OrderId("o")};
            return value.decode(kKey, bytes, state);
        });
    OrderKey order;
    static_cast<void>(OrderValue::decode_key(kKey, sealed(fields), order));
}

void check_event(std::string_view fields) {
    static RowValue value;
    static const OrderKey key{{1}, {2}, OrderId("o")};
    check_codec<EventTrace>(
        fields, [](const EventTrace& event) { return value.encode_event(kKey, key, event); },
        [](std::string_view bytes, EventTrace& event) {
            OrderKey copy = key;
            return RowValue::decode_event(kKey, bytes, copy, event);
        });
}

void check_variant(std::string_view fields) {
    ProductId product;
    static_cast<void>(RowValue::decode_variant(kKey, sealed(fields), product));
}

template <class Row, class Encode, class Decode>
void check_registry(std::string_view bytes, Encode encode, Decode decode) {
    const std::optional<Row> row = decode("id", bytes);
    if (row) {
        const std::string first = encode(*row);
        const std::optional<Row> again = decode("id", first);
        FUZZ_CHECK(again && encode(*again) == first);
    }
}

void check_segment(std::string_view bytes) {
    if (const auto head = store::decode_segment_head(bytes)) {
        FUZZ_CHECK(store::encode_segment_head(*head) == bytes.substr(0, store::kSegmentHeadBytes));
    }
}

void check_block(std::string_view bytes) {
    auto head = store::decode_block_head(bytes);
    if (!head || head->raw_bytes > (1U << 20)) {
        return;
    }
    FUZZ_CHECK(store::encode_block_head(*head) == bytes.substr(0, store::kBlockHeadBytes));
    const std::string_view payload = bytes.substr(store::kBlockHeadBytes);
    if (const auto raw = store::unpack_block(*head, payload)) {
        FUZZ_CHECK(raw->size() == head->raw_bytes);
    }
}

void check_inputs(std::string_view bytes) {
    std::string_view rest = bytes;
    while (!rest.empty()) {
        const std::size_t before = rest.size();
        const auto input = store::take_input(rest);
        if (!input) {
            return;
        }
        FUZZ_CHECK(rest.size() < before);
        std::string again;
        store::append_input(again, *input);
        std::string_view view = again;
        const auto second = store::take_input(view);
        FUZZ_CHECK(second.ok() && view.empty() && second->record == input->record &&
                   second->bulk_body == input->bulk_body && second->seq == input->seq &&
                   second->dead_reason == input->dead_reason &&
                   second->last_seq == input->last_seq && second->original == input->original);
    }
}

using CheckKind = void (*)(std::string_view);

/// Kinds with shapes of their own; those of the described tables follow, in their order.
constexpr std::array<CheckKind, 14> kKinds{
    check_order,
    check_event,
    check_row<JournalGroup>,
    check_row<Balance>,
    check_catalog,
    check_variant,
    check_row<ChainHead>,
    check_row<store::NodeHead>,
    [](std::string_view bytes) {
        check_registry<store::RegisteredAccount>(bytes, store::encode_account,
                                                 store::decode_account);
    },
    [](std::string_view bytes) {
        check_registry<store::RegisteredShop>(bytes, store::encode_shop, store::decode_shop);
    },
    [](std::string_view bytes) {
        check_registry<store::StoredToken>(bytes, store::encode_token, store::decode_token);
    },
    check_segment,
    check_block,
    check_inputs};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string_view bytes = sluice::fuzz::text_of(data, size);
    const std::size_t kind =
        sluice::fuzz::take_choice(bytes) % (kKinds.size() + described_tables().size());
    if (kind < kKinds.size()) {
        kKinds[kind](bytes);
    } else {
        check_described(described_tables()[kind - kKinds.size()], bytes);
    }
    return 0;
}
