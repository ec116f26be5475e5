// Order events and late attribution: from a payload to rows, one order at a time.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/ledger/ledger.hpp"
#include "core/orders/context.hpp"
#include "core/orders/post.hpp"
#include "core/orders/program_cache.hpp"
#include "core/orders/volume.hpp"
#include "core/protocol/order_event.hpp"
#include "core/rules/order_book.hpp"
#include "core/shops/source.hpp"

namespace sluice {

/// The platform that an order came from, and its notes.
struct OrderSource {
    Platform platform = Platform::kShopify;
    SourceNotes notes;
};

/// An order event with the facts of its record.
struct OrderArrival {
    const OrderEvent& event;
    AccountNumber account;
    ShopNumber shop;
    std::string_view shop_id;
    EventArrival arrival;
    std::optional<OrderSource> source{};  ///< Shops with a platform.
};

class OrderApplier {
public:
    explicit OrderApplier(ProgramCache& programs) : programs_(programs) {}

    /// Returns kApplied, kStale or kDuplicate.
    InputClass apply_order(const OrderArrival& arrival, LedgerTxn& txn);
    /// Cancels an order that the shop's platform deleted. Of the event, topic, order and the time
    /// of cancellation count.
    /// @param version  Of the state that was deleted; no value: the one that stands.
    /// Requires: arrival.source.
    InputClass delete_order(const OrderArrival& arrival, std::optional<Timestamp> version,
                            LedgerTxn& txn);
    /// Tries to attribute a waiting order again (A2).
    void retry_order(const OrderKey& order, const Source& source, LedgerTxn& txn);

    [[nodiscard]] ProgramCache& programs() noexcept { return programs_; }

private:
    /// The entries of an order in indexes and sums, before an event.
    struct Before {
        IndexedBefore indexed;
        VolumeBefore volume;
        CustomerBefore customer;
        std::size_t frozen = 0;  ///< Lines of the live position.
    };
    [[nodiscard]] Before before_event(LedgerTxn& txn);
    bool is_duplicate_event(const OrderArrival& arrival, LedgerTxn& txn);
    bool undoes_deletion(const OrderArrival& arrival, LedgerTxn& txn);
    InputClass keep_deletion(const OrderArrival& arrival, LedgerTxn& txn);
    void apply_earlier_deletion(const OrderArrival& arrival, OrderStep& step, LedgerTxn& txn);
    InputClass finish_event(const OrderArrival& arrival, OrderStep& step, const Before& before,
                            LedgerTxn& txn);
    std::uint64_t post_event(const OrderArrival& arrival, OrderStep& step, bool attributed,
                             std::size_t frozen_before, LedgerTxn& txn);
    void write_step(const OrderArrival& arrival, const OrderStep& step, std::uint32_t anomalies,
                    std::uint64_t first_entry, LedgerTxn& txn);

    ProgramCache& programs_;
    OrderState state_;  ///< Scratch: its buffers are reused from event to event.
};

/// Selects the creator of the order by rule A1, or nullopt if no creator qualifies.
[[nodiscard]] std::optional<Attribution> find_creator(const OrderState& state,
                                                      std::string_view shop_id,
                                                      ProgramCache& programs, LedgerTxn& txn);
/// Attributes the order: makes a position and freezes its facts, or makes the creator's earlier
/// position live again. Freezes no rates and posts nothing.
void attribute(OrderState& state, Attribution attribution, const Source& source,
               ProgramCache& programs, LedgerTxn& txn);
/// Freezes rates, and posts what an order that an import or a person attributed earns now, with the
/// memo entry. Adds the group to the order.
void post_attribution(OrderState& state, const Source& source, ProgramCache& programs,
                      LedgerTxn& txn);

}  // namespace sluice
