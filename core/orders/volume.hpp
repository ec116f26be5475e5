// Volume: facts that are frozen with an order, and what they are counted from (books M3, M4).
//
// Tier volumes are counted for programs with tiers, customers for accounts with a rule that asks
// for them: programs without either cost nothing.
#pragma once

#include <optional>

#include "core/ledger/account_rows.hpp"
#include "core/ledger/ledger.hpp"
#include "core/orders/program_cache.hpp"

namespace sluice {

/// What the order adds to its creator's volume of a month, and under whom.
using VolumeBefore = std::optional<TierVolume>;
/// Nothing: the order's program has no tiers, or the order has no creator.
[[nodiscard]] VolumeBefore counted_volume(const OrderState& state, ProgramCache& programs,
                                          LedgerReader& ledger);
/// Counts what the order adds now in place of what it added before.
void count_volume(const OrderState& state, const VolumeBefore& before, ProgramCache& programs,
                  LedgerTxn& txn);

/// Where the index of customers has the order; nothing: nowhere.
using CustomerBefore = std::optional<CustomerOrder>;
[[nodiscard]] CustomerBefore indexed_customer(const OrderState& state);
/// Moves the order there, if the account asks for customers.
void index_customer(const OrderState& state, const CustomerBefore& before, ProgramCache& programs,
                    LedgerTxn& txn);

/// Counts the volumes of a program that has tiers now and had none, from the orders.
void count_volumes(const Program& program, LedgerTxn& txn);
/// Makes the index of customers of an account that asks for them now and did not, from the orders.
void index_customers(AccountNumber account, LedgerTxn& txn);

/// Of an order that is about to be given to a creator.
[[nodiscard]] FrozenFacts frozen_facts(const OrderState& state, const Attribution& attribution,
                                       ProgramCache& programs, LedgerReader& ledger);

}  // namespace sluice
