// Rows of ledger and registry, and the archive's blocks: any bytes are refused or read within their
// bounds; what is read and written again is read as the same.
//
// The first byte chooses the kind; make_seeds.py knows the same order.
#include <string>
#include <type_traits>
#include <utility>

#include "check.hpp"
#include "lmdb_store/archive/format.hpp"
#include "lmdb_store/ledger/order_value.hpp"
#include "lmdb_store/ledger/row_value.hpp"
#include "lmdb_store/registry/rows.hpp"

namespace {

using namespace sluice;
using store::OrderValue;
using store::RowValue;

template <class Row, class Encode, class Decode>
void check_codec(std::string_view bytes, Encode&& encode, Decode&& decode) {
    Row row{};
    if (!decode(bytes, row)) {
        return;
    }
    const std::string first(encode(row));
    Row again{};
    FUZZ_CHECK(decode(first, again));
    FUZZ_CHECK(encode(again) == first);
}

template <class Row>
void check_row(std::string_view bytes) {
    static RowValue value;
    check_codec<Row>(
        bytes, [](const Row& row) { return value.encode(row); },
        [](std::string_view text, Row& row) { return value.decode(text, row); });
}

/// A row whose id stands in its key; where the key had to cut it (there is none then), in the row.
template <class Row, class IdOf>
void check_keyed_row(std::string_view bytes, IdOf id_of) {
    static RowValue value;
    using Id = std::remove_cvref_t<decltype(id_of(std::declval<Row&>()))>;
    for (Id known : {Id(), Id("k")}) {
        check_codec<Row>(
            bytes,
            [&](const Row& row) {
                known = id_of(row);
                return value.encode(row);
            },
            [&](std::string_view text, Row& row) {
                id_of(row) = known;
                return value.decode(text, row);
            });
    }
}

void check_anomaly(std::string_view bytes) {
    check_keyed_row<Anomaly>(
        bytes, [](auto& row) -> auto& { return row.order.order_id; });
}

void check_catalog(std::string_view bytes) {
    check_keyed_row<CatalogRecord>(
        bytes, [](auto& row) -> auto& { return row.key.product_id; });
}

void check_order(std::string_view bytes) {
    static OrderValue value;
    const auto decode = [](std::string_view text, OrderState& state) {
        state.key = {{1}, {2}, OrderId("o")};
        return value.decode(text, state);
    };
    check_codec<OrderState>(
        bytes, [](const OrderState& state) { return value.encode(state); }, decode);
    static_cast<void>(value.order_id(bytes));
}

/// What is open of an order is read out of the order's value.
void check_open(std::string_view bytes) {
    static OrderValue value;
    OpenAmount row{};
    static_cast<void>(value.decode_open(bytes, row));
}

void check_group(std::string_view bytes) {
    static RowValue value;
    check_codec<store::StoredGroup>(
        bytes, [](const auto& stored) { return value.encode(stored.group, stored.node); },
        [](std::string_view text, auto& stored) { return value.decode(text, stored); });
}

void check_event(std::string_view bytes) {
    static RowValue value;
    const OrderKey key{{1}, {2}, OrderId("o")};
    check_codec<EventTrace>(
        bytes, [&](const auto& event) { return value.encode_event(key, event); },
        [&](std::string_view text, auto& event) {
            OrderKey copy = key;
            return value.decode_event(text, copy, event);
        });
}

void check_refund_owner(std::string_view bytes) {
    check_keyed_row<RefundOwner>(
        bytes, [](auto& row) -> auto& { return row.refund_id; });
}

void check_cut_ids(std::string_view bytes) {
    static RowValue value;
    WaitingOrder waiting{{}, {}, OrderId("o")};
    ProductId product("p");
    static_cast<void>(value.decode(bytes, waiting));
    static_cast<void>(value.decode_variant(bytes, product));
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
                   second->dead_reason == input->dead_reason);
    }
}

using CheckKind = void (*)(std::string_view);
constexpr CheckKind kKinds[] = {
    check_order,
    check_event,
    check_group,
    check_refund_owner,
    check_anomaly,
    check_row<Balance>,
    check_open,
    check_row<CodeRow>,
    check_row<Membership>,
    check_row<Touch>,
    check_cut_ids,
    check_row<ProgramRow>,
    check_catalog,
    check_row<ShopRow>,
    check_row<Payout>,
    check_row<CommandRow>,
    check_row<DeadLetter>,
    check_row<Work>,
    check_row<ChainHead>,
    check_row<store::NodeHead>,
    [](std::string_view bytes) {
        check_registry<store::AccountRow>(bytes, store::encode_account, store::decode_account);
    },
    [](std::string_view bytes) {
        check_registry<store::ShopRow>(bytes, store::encode_shop, store::decode_shop);
    },
    [](std::string_view bytes) {
        check_registry<store::StoredToken>(bytes, store::encode_token, store::decode_token);
    },
    check_segment,
    check_block,
    check_inputs,
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string_view bytes = sluice::fuzz::text_of(data, size);
    const unsigned kind = sluice::fuzz::take_choice(bytes) % std::size(kKinds);
    kKinds[kind](bytes);
    return 0;
}
