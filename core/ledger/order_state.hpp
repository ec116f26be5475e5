// Order state: everything the ledger knows of one order, in one value.
//
// Plain values without behaviour; they own their bytes. Money that was sent is a Decimal with the
// scale that was sent; money that is owed is a Decimal with exactly the currency's minor digits.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/ledger/position.hpp"
#include "core/protocol/platform.hpp"
#include "core/protocol/signature.hpp"
#include "core/protocol/topic.hpp"
#include "core/protocol/traceparent.hpp"
#include "core/values/decimal.hpp"
#include "core/values/ids.hpp"
#include "core/values/money.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

struct OrderKey {
    AccountNumber account;
    ShopNumber shop;
    OrderId order_id;
    friend std::strong_ordering operator<=>(const OrderKey&, const OrderKey&) = default;
    friend bool operator==(const OrderKey&, const OrderKey&) = default;
};

/// A line of the newest payload, or (present = false) one that a position priced and that is gone.
struct OrderLine {
    LineItemId id;
    Sku sku;
    std::optional<VariantSku> variant_sku;
    Decimal amount;
    Decimal tax;
    std::uint32_t quantity = 1;
    bool present = true;
};

/// The last statement made under one refund id. One row per id, for ever.
struct RefundRow {
    RefundLineItemId id;
    LineItemId line;
    Timestamp version{};       ///< The version of the event that stated it.
    std::uint64_t stated = 0;  ///< Order of arrival among the order's statements; breaks ties.
    Timestamp refunded_at{};
    Decimal amount{};
    Decimal tax{};
    std::uint32_t quantity = 0;
};

enum class EventDecision : std::uint8_t { kApplied = 1, kStale = 2 };

/// First half of the SHA-256 of a raw body. With the topic it recognises a duplicate.
using EventDigest = std::array<std::uint8_t, 16>;

/// An event of an order that was not a duplicate, as `sluice explain` shows it.
struct EventTrace {
    SequenceNumber seq;
    Topic topic = Topic::kOrderCreate;
    EventDecision decision = EventDecision::kApplied;
    EventDigest digest{};  ///< All 0: forgotten by `order reset` (O5).
    Timestamp version;
    Timestamp received_at;
    bool cancelled = false;         ///< The payload had platform_cancelled_at.
    std::uint32_t anomalies = 0;    ///< Bits 1 << AnomalyKind that it showed.
    std::uint64_t first_entry = 0;  ///< Its journal group, or 0 if it changed no commission.
    std::uint32_t node = 0;         ///< LedgerHead::number of the queue that it came through.
    std::optional<TraceParent> traceparent{};  ///< The trace that the request stated.
    EventSource source = EventSource::kSignedPost;
};

/// Bits of OrderState::flags.
enum OrderFlag : std::uint8_t {
    kOrderHeld = 1,      ///< `hold`: increases are not paid (H1).
    kOrderRejected = 2,  ///< `reject`: its lines earn nothing.
    kOrderBarred =
        4,  ///< `detach`: nothing but `attribute` or `detach --retry` gives it a creator.
};

/// One value per order.
struct OrderState {
    OrderKey key;
    Timestamp version;
    Timestamp ordered_at;
    std::optional<Timestamp> cancelled_at;
    Currency currency;
    std::string amount, tax, shipping;  ///< As sent.
    std::vector<std::string> codes;     ///< Discount codes as sent, in their order.
    /// Numbers for people, of the newest payload. The first one is shown.
    std::vector<std::string> numbers;
    std::string confirmation_number;  ///< Random, and never shown. May be empty.
    /// SHA-256 of the device id of the newest version that stated one, and that version (O4).
    std::optional<Digest256> device;
    Timestamp device_version;  ///< Meaningless without a device.
    /// SHA-256 of the customer: `id:` and platform_customer_id, else `email:` and the e-mail in
    /// ASCII lower case (M1); of the newest payload.
    std::optional<Digest256> customer;
    /// The highest version that was not more than 24 h ahead of its receipt (O5).
    std::optional<Timestamp> plausible_version;
    std::vector<OrderLine> lines;  ///< The payload's order; lines that are gone follow.
    std::vector<RefundRow> refunds;
    std::uint64_t statements_count = 0;  ///< Refund statements so far.
    std::uint8_t flags = 0;              ///< OrderFlag.
    /// Bits 1 << AnomalyKind: what shows now, and what of that was acknowledged (H2).
    std::uint32_t anomalies_showing = 0, anomalies_acknowledged = 0;
    std::vector<Position> positions;  ///< In the order in which they were made; none is removed.
    /// Index of the live position, or no value if the order has no creator.
    std::optional<std::uint32_t> live;
    SequenceNumber last_applied;     ///< The newest event that was neither stale nor duplicate,
    std::uint32_t last_node = 0;     ///< and LedgerHead::number of its queue.
    std::vector<EventTrace> events;  ///< The first kEventsInlineMax; later ones are rows.
    std::uint64_t events_count = 0;  ///< All that were not duplicates.
    std::uint64_t duplicates_count = 0;
    /// Journal groups of imports and people (events have theirs in EventTrace), by first entry.
    std::vector<std::uint64_t> other_groups;
    std::uint64_t changes_count = 0;  ///< Its journal groups on all nodes.

    [[nodiscard]] const Position* position() const noexcept {
        return live ? &positions[*live] : nullptr;
    }
    [[nodiscard]] Position* position() noexcept { return live ? &positions[*live] : nullptr; }
    [[nodiscard]] bool has(OrderFlag flag) const noexcept { return (flags & flag) != 0; }
    /// True if its lines can earn at all.
    [[nodiscard]] bool earns() const noexcept { return !cancelled_at && !has(kOrderRejected); }
};
/// Bounds the order's value: a hot order's later events are rows of their own.
inline constexpr std::size_t kEventsInlineMax = 64;

}  // namespace sluice
