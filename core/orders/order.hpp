// Order events and late attribution: from a payload to rows, one order at a time.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/ledger/ledger.hpp"
#include "core/orders/context.hpp"
#include "core/orders/post.hpp"
#include "core/orders/program_cache.hpp"
#include "core/protocol/order_event.hpp"
#include "core/rules/order_book.hpp"

namespace sluice {

/// An order event with the facts of its record.
struct OrderArrival {
    const OrderEvent& event;
    AccountNumber account;
    ShopNumber shop;
    std::string_view shop_id;
    EventArrival arrival;
};

class OrderApplier {
public:
    explicit OrderApplier(ProgramCache& programs) : programs_(programs) {}

    /// Returns kApplied, kStale or kDuplicate.
    InputClass apply_order(const OrderArrival& arrival, LedgerTxn& txn);
    /// Tries to attribute a waiting order again (A2).
    void retry_order(const OrderKey& order, const Source& source, LedgerTxn& txn);

    [[nodiscard]] ProgramCache& programs() noexcept { return programs_; }

private:
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
