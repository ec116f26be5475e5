// Order events and late attribution: from a payload to rows, one order at a time.
#pragma once

#include <cstdint>
#include <string_view>

#include "core/apply/program_cache.hpp"
#include "core/ledger/ledger.hpp"
#include "core/protocol/order_event.hpp"
#include "core/rules/order_book.hpp"

namespace sluice {

/// An order event with what its record says about it.
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

    /// kApplied, kStale or kDuplicate.
    InputClass apply_order(const OrderArrival& arrival, LedgerTxn& txn);
    /// Tries once more to attribute an order that waits (rule A2).
    void retry_order(const OrderKey& order, const Work& work, LedgerTxn& txn);

private:
    /// Gives the order a creator if there is one for it.
    void attribute(LedgerTxn& txn, std::string_view shop_id, SequenceNumber cause,
                   Topic cause_topic, Timestamp at);
    /// Of the program that the order is attributed to.
    [[nodiscard]] const RateBook& rates(LedgerTxn& txn);
    void write_step(const OrderArrival& arrival, const OrderStep& step, std::uint64_t first_entry,
                    LedgerTxn& txn);

    ProgramCache& programs_;
    OrderState state_;  ///< Scratch: its buffers are reused from event to event.
};

}  // namespace sluice
