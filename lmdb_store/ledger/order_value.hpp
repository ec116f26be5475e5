// The value of an order. Inner header of the room.
//
// Compact, because an order of five lines should take a quarter of a page: lines, refunds and
// events are fixed-size structs, equal frozen rates are stored once, and the strings lie in one run
// of bytes.
#pragma once

#include <string_view>

#include "core/ledger/order_state.hpp"
#include "core/ledger/rows.hpp"
#include "lmdb_store/ledger/value.hpp"

namespace sluice::store {

/// Reusable; keeps its buffers. One per transaction.
class OrderValue {
public:
    /// Valid until the next call. Throws std::length_error: more lines than a value can hold.
    [[nodiscard]] std::string_view encode(const OrderState& state);
    /// False: damaged. `state.key` must be what the value was stored under; if that key had to cut
    /// the id, false also means: another order. Reuses the buffers of `state`.
    [[nodiscard]] bool decode(std::string_view value, OrderState& state);
    /// Fills in creator and amount of a row that names the order and a currency. False: damaged, or
    /// nothing is open there.
    [[nodiscard]] bool decode_open(std::string_view value, OpenAmount& row);
    /// The id that a cut key cannot give; nothing: damaged or not in the value.
    [[nodiscard]] std::optional<std::string_view> order_id(std::string_view value);

private:
    void clear();
    void add_text(std::string_view text);
    void encode_lines(const OrderState& state);
    void encode_refunds(const OrderState& state);
    void encode_rest(const OrderState& state);
    [[nodiscard]] std::uint32_t rate_index(const FrozenRate& rate);
    [[nodiscard]] flatbuffers::Offset<fbs::Attribution> encode_attribution(
        const Attribution& attribution);
    [[nodiscard]] flatbuffers::Offset<fbs::OrderPaid> encode_paid(const OrderPaid& paid);

    flatbuffers::FlatBufferBuilder builder_{4096};
    WideDecimals wides_;
    std::vector<std::uint8_t> text_;
    std::vector<fbs::OrderLine> lines_;
    std::vector<fbs::ShortLine> short_lines_;
    std::vector<fbs::FrozenRate> rates_;
    std::vector<FrozenRate> rates_seen_;
    std::vector<fbs::RefundRow> refunds_;
    std::vector<fbs::OrderDue> dues_;
    std::vector<fbs::EventTrace> events_;
    std::vector<fbs::Candidate> candidates_;
    AlignedCopy copy_;
};

[[nodiscard]] fbs::EventTrace to_trace(const EventTrace& event) noexcept;
[[nodiscard]] bool from_trace(const fbs::EventTrace& stored, EventTrace& event) noexcept;

}  // namespace sluice::store
