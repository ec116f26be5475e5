// Volume: facts that are frozen with an order, and the counts that they come from (rules M3, M4).
//
// Tier volumes are counted for programs with tiers, customers for accounts with a rule that asks
// for them: programs without either cost nothing.
#pragma once

#include <functional>
#include <optional>

#include "core/ledger/account_rows.hpp"
#include "core/ledger/ledger.hpp"
#include "core/orders/context.hpp"
#include "core/orders/program_cache.hpp"

namespace sluice {

/// Visits every order of the account, shop by shop.
void visit_orders(AccountNumber account, LedgerReader& ledger,
                  const std::function<void(const OrderState&)>& visit);

/// Returns the net sales of an order (M4): amount - tax - (refunded amount - refunded tax) of each
/// line, not below 0. A line that is fully refunded or gone adds 0, and so does an order that earns
/// nothing.
[[nodiscard]] Decimal net_sales(const OrderState& state);

/// The share of an order in its creator's volume of a month, and its place among the month's orders
/// if tiers apply to the month.
struct CountedVolume {
    TierVolume volume;
    std::optional<TierOrder> listed{};
};
using VolumeBefore = std::optional<CountedVolume>;
/// Returns nullopt if the order's program has no tiers, or the order has no creator.
[[nodiscard]] VolumeBefore counted_volume(const OrderState& state, ProgramCache& programs,
                                          LedgerReader& ledger);
/// Replaces the share `before` by the share that the order has now. Leaves work if orders of the
/// month may have another tier (core/apply/work).
void count_volume(const OrderState& state, const VolumeBefore& before, const Source& source,
                  ProgramCache& programs, LedgerTxn& txn);

/// The order's row in the index of customers, if it names one.
using CustomerBefore = std::optional<CustomerOrder>;
[[nodiscard]] CustomerBefore indexed_customer(const OrderState& state);
/// Updates the row, if the account asks for customers.
void index_customer(const OrderState& state, const CustomerBefore& before, ProgramCache& programs,
                    LedgerTxn& txn);

/// Counts the volumes of a program that has tiers now and had none, from the orders.
void count_volumes(const Program& program, LedgerTxn& txn);
/// Lists the orders of a program whose tiers apply to the month, or removes them from the list if
/// they do not.
void list_tier_orders(const Program& program, LedgerTxn& txn);
/// Builds the index of customers from the orders, for an account whose programs begin to need it.
void index_customers(AccountNumber account, LedgerTxn& txn);

/// Computes the facts that are frozen when an order is attributed.
[[nodiscard]] FrozenFacts frozen_facts(const OrderState& state, const Attribution& attribution,
                                       ProgramCache& programs, LedgerReader& ledger);

/// Freezes volume and customer of the live position when it sees a new line, if its program asks
/// for them now and did not ask before (M3). Where tiers apply to the month, the new line gets the
/// tier of the volume of now.
/// @param own  The order's share in its creator's volume, as counted now.
void complete_facts(OrderState& state, const VolumeBefore& own, ProgramCache& programs,
                    LedgerReader& ledger);

/// Gives a position that the order takes up again the tiers of the month's volume (M4).
void rate_again(OrderState& state, ProgramCache& programs, LedgerReader& ledger);
/// Returns the stored volume of a creator's month, with the currency's digits and more only if they
/// are not 0.
[[nodiscard]] Money stored_volume(TierVolume key, LedgerReader& ledger);

}  // namespace sluice
