// Sums: counts orders, and adds postings to the sums of their day and month (reading Z3, Z10).
#pragma once

#include <optional>

#include "core/ledger/ledger.hpp"

namespace sluice {

/// Counts a new order, whose first event has this accounting date.
void count_order(LedgerTxn& txn, const OrderState& state, Timestamp accounting_date);

/// Adds the group's postings to the sums.
/// @param counted_in  Currency under which its memo entries count as attributions; absent if they
/// do not.
void add_to_sums(LedgerTxn& txn, const JournalGroup& group, std::optional<Currency> counted_in);

}  // namespace sluice
