// Sums: counts orders by the day of their sale, and adds postings to the sums of their day and
// month, and open amounts to those of the hour of their sale. Lists and counts what a person should
// look at, held orders and anomalies. Notes when shops sent events.
#pragma once

#include <cstdint>

#include "core/ledger/ledger.hpp"
#include "core/ledger/overview_rows.hpp"
#include "core/rules/attribution.hpp"

namespace sluice {

/// Counts an order that was sold at `sold_at`.
/// @param sign  -1 takes it out.
void count_order(LedgerTxn& txn, AccountNumber account, Timestamp sold_at, int sign,
                 bool attributed);

/// Minutes since 1970.
[[nodiscard]] std::int64_t minute_of(Timestamp at) noexcept;
/// Notes that an event of the shop came in this minute.
void note_minute(LedgerTxn& txn, AccountNumber account, ShopNumber shop, Timestamp received_at);
/// Counts an order by the day on which its first event came.
void note_new_order(LedgerTxn& txn, AccountNumber account, ShopNumber shop, Timestamp received_at,
                    bool has_device);

/// Adds the group's postings to the sums.
void add_to_sums(LedgerTxn& txn, const JournalGroup& group);

/// Adds the group's postings to the sums of the link that its order came through.
void add_to_link(LedgerTxn& txn, const JournalGroup& group, const Landed& landed);

/// Adds the group's postings to the sums of the code that attributed its order.
void add_to_code(LedgerTxn& txn, const JournalGroup& group, const Coded& coded);
/// Counts an order of a code by the day of its sale.
/// @param sign  -1 takes it out.
void count_coded(LedgerTxn& txn, AccountNumber account, Timestamp sold_at, const Coded& coded,
                 int sign);

/// Adds an open amount to the sums of its hour.
/// @param sign  -1 takes it out.
void change_open_sums(LedgerTxn& txn, const OpenAmount& row, int sign);

/// @param begins  False takes the order off the list.
void list_attention(LedgerTxn& txn, const OrderKey& order, AttentionKind kind, Timestamp since,
                    bool begins);
/// Takes the order's hold off the list, whenever it began.
void end_hold(LedgerTxn& txn, const OrderState& state);

}  // namespace sluice
