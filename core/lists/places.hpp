// Lists: pages of orders and payouts, each read from an index, so that every page costs the same.
// Requires: the reader is a snapshot of a stored ledger.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "core/ledger/payout_rows.hpp"

namespace sluice::lists {

/// An order's place in a list by the time of the sale.
struct OrderPlace {
    Timestamp ordered_at;
    ShopNumber shop;
    OrderId order_id;
    friend bool operator==(const OrderPlace&, const OrderPlace&) = default;
};

/// Orders of an account by the time of the sale, shop and order.
struct OrderListing {
    AccountNumber account;
    std::optional<CreatorId> creator{};  ///< First id of the live position's creator.
    std::optional<std::string> code{};   ///< Ignored if `creator` is set.
    std::optional<Timestamp> from{};     ///< Inclusive.
    std::optional<Timestamp> to{};       ///< Exclusive.
    bool newest_first = true;
    std::optional<OrderPlace> after{};  ///< The last order that was seen.
};

/// Returns at most `max` places, in the order of the list. With `code`, an order may have another
/// code of the same number (code_number()).
[[nodiscard]] std::vector<OrderPlace> order_places(LedgerReader& ledger,
                                                   const OrderListing& listing, std::size_t max);
/// Reads the orders of the places together, and visits them until `visit` returns false.
void visit_places(LedgerReader& ledger, AccountNumber account,
                  const std::vector<OrderPlace>& places, const Visitor<OrderState>& visit);

/// Payouts of an account, by id: in the order of closing.
struct PayoutListing {
    AccountNumber account;
    std::optional<CreatorId> creator{};  ///< First id.
    std::optional<PayoutState> state{};
    std::string prefix{};  ///< The ids begin so: those of one payout run. Empty means all.
    std::string after{};   ///< The last id that was seen, or empty.
};
/// Returns at most `max` ids. With both creator and state, a payout may have another state.
[[nodiscard]] std::vector<std::string> payout_ids(LedgerReader& ledger,
                                                  const PayoutListing& listing, std::size_t max);

/// Returns the ids of the account's payouts, the newest first, at most `max`.
[[nodiscard]] std::vector<std::string> newest_payout_ids(LedgerReader& ledger,
                                                         AccountNumber account, std::size_t max);

/// Visits the payouts that there are, many read together.
void visit_payouts(LedgerReader& ledger, std::span<const std::string> ids,
                   const Visitor<Payout>& visit);

/// Visits the account's payouts in one state, by id.
void scan_payouts_in(LedgerReader& ledger, AccountNumber account, PayoutState state,
                     const std::function<void(const Payout&)>& visit);

/// Returns at most `max` payout runs of the account whose ids come before `before`, the newest
/// first. An empty id is after all.
[[nodiscard]] std::vector<PayoutRun> runs_before(LedgerReader& ledger, AccountNumber account,
                                                 const std::string& before, std::size_t max);

}  // namespace sluice::lists
