// Journal: the ledger accounts that a posting moves money between, and the hash chain that shows
// whether an entry was ever altered (rules J1 to J3).
//
// Hash of an entry = SHA-256(hash of the account's entry before it on this node, canonical bytes of
// the entry). docs/record-format.md lists the canonical bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/ledger/head.hpp"
#include "core/ledger/journal_rows.hpp"
#include "core/ledger/overview_rows.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

/// The ledger accounts that a reason implies; kNone twice for a memo entry.
struct DebitCredit {
    LedgerAccount debit = LedgerAccount::kNone, credit = LedgerAccount::kNone;
};
[[nodiscard]] DebitCredit debit_credit_of(JournalReason reason) noexcept;
/// expense, owed, payout:ID, paid; empty for kNone.
[[nodiscard]] std::string ledger_account_name(LedgerAccount account, std::string_view payout_id);
/// Returns the entry's change of one ledger account: its amount, minus its amount, or 0.
[[nodiscard]] Decimal change_in(const JournalEntry& entry, LedgerAccount account) noexcept;
/// Returns the entry's change of each of the creator's ledger accounts; 0 for a memo entry.
[[nodiscard]] AccountSums change_by(const JournalEntry& entry) noexcept;
/// Returns the entry's amount under the name that statements give it (S3): ACCRUAL and ATTRIBUTION
/// count as earned, payouts and their releases as paid out, the rest as adjusted.
[[nodiscard]] StatementAmounts statement_amounts(const JournalEntry& entry) noexcept;
/// Adds a posting to all sums of its day.
void add_posting(DailySum& sum, const JournalGroup& group, const JournalEntry& entry) noexcept;
/// Returns 0 for each ledger account, with the currency's digits.
[[nodiscard]] AccountSums zero_books(Currency currency) noexcept;

[[nodiscard]] std::string_view to_string(JournalReason reason) noexcept;  // ACCRUAL, ...

/// Returns the bytes that are hashed for `group.entries[index]`, without the hash before it.
[[nodiscard]] std::string canonical_bytes(const JournalGroup& group, std::size_t index);

/// Sets the group's hash and place in the chain, and advances the chain by all of its entries.
void seal(JournalGroup& group, ChainHead& chain);

/// Advances `chain` as seal() did. Returns false if the group was not sealed after that chain.
[[nodiscard]] bool verify_seal(const JournalGroup& group, ChainHead& chain);

// The accounting date is the month that an entry counts in. An input that is received after its
// month was closed counts from the first instant that is still open (S1).

/// @param closed_until  The account's first open instant; nullopt if no period of it was closed.
[[nodiscard]] inline bool is_late(Timestamp received_at,
                                  const std::optional<Timestamp>& closed_until) noexcept {
    return closed_until && received_at < *closed_until;
}

/// Returns the receipt, or for a late input the first open instant.
[[nodiscard]] inline Timestamp accounting_date(
    Timestamp received_at, const std::optional<Timestamp>& closed_until) noexcept {
    return is_late(received_at, closed_until) ? *closed_until : received_at;
}

}  // namespace sluice
