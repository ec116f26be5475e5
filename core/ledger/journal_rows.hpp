// The journal: entries, their groups, and the balances of the ledger accounts (rules J1, J2).
//
// Plain values without behaviour; they own their bytes.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "core/protocol/signature.hpp"
#include "core/values/decimal.hpp"
#include "core/values/ids.hpp"
#include "core/values/money.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

/// Why an entry was written. A posting's reason implies its two ledger accounts. Reasons from 64 on
/// are memo entries.
/// Values are part of the chain: never renumber.
enum class JournalReason : std::uint8_t {
    kAccrual = 1,
    kAttribution = 2,
    kCancellation = 3,
    kRefund = 4,
    kUpdate = 5,
    kManual = 6,
    kDetach = 7,
    kReject = 8,
    kRelease = 9,
    kCredit = 10,
    kReversal = 11,
    kPayout = 12,
    kSettle = 13,
    kVoid = 14,
    kFailed = 15,
    kReturned = 16,
    kOpening = 17,
    kWriteOff = 18,
    kTier = 19,
    kMemoAttributed = 64,
    kMemoDetached = 65,
    kMemoRejected = 66,
    kMemoHeld = 67,
    kMemoReleased = 68,
    kMemoAcknowledged = 69,
    kMemoClosed = 70,
    kMemoApproved = 71,
    kMemoSent = 72,
    kMemoReset = 73,
    kMemoPeriodClosed = 74,
    kMemoPolicyChanged = 75,
    kMemoRenamed = 76,
    kMemoPending = 77,
    kMemoRepointed = 78,
    kMemoPayeeChanged = 79,
    kMemoAnomaly = 80,
    kMemoWithdrawn = 81,
    kMemoGapAccepted = 82,
    kMemoDiscarded = 83,
};
[[nodiscard]] constexpr bool is_memo(JournalReason reason) noexcept {
    return reason >= JournalReason::kMemoAttributed;
}
/// Whether the posting began an amount without an order: a credit, an opening balance, a write-off.
[[nodiscard]] constexpr bool is_credit(JournalReason reason) noexcept {
    return reason == JournalReason::kCredit || reason == JournalReason::kOpening ||
           reason == JournalReason::kWriteOff;
}

/// Ledger accounts: four per account, program, creator and currency, where kPayout means one per
/// payout.
enum class LedgerAccount : std::uint8_t {
    kNone = 0,
    kExpense = 1,
    kOwed = 2,
    kPayout = 3,
    kPaid = 4
};

/// A posting (never 0) or a memo entry (no currency, amount 0).
struct JournalEntry {
    LineItemId line;  ///< May be empty. In a memo entry: its object (docs/record-format.md).
    Currency currency{};
    Decimal amount{};
    JournalReason reason = JournalReason::kAccrual;
    std::uint64_t refers_to = 0;  ///< The entry that a late one corrects (S1), or 0.
};

/// Entries of one input that have these fields in common: numbers first_entry, first_entry + 1 ...
/// Dense per node, so a node's journal is one sequence. Never changed once written.
struct JournalGroup {
    std::string node{};  ///< UUID of the queue whose input wrote it.
    std::uint64_t first_entry = 0;
    SequenceNumber event_seq;
    std::string command_id;  ///< Empty for an order event.
    AccountNumber account;
    ShopNumber shop{};    ///< 0 if there is none.
    OrderId order_id{};   ///< May be empty.
    ProgramId program{};  ///< Empty in memo entries.
    CreatorId creator{};  ///< Empty in memo entries.
    std::string payout_id{};
    Timestamp recorded_at;                ///< Receipt.
    Timestamp accounting_date;            ///< When statements show it (S1).
    std::string note, actor;              ///< The reason and the actor of a command.
    std::vector<JournalEntry> entries{};  ///< Postings, then memo entries.
    Digest256 hash{};  ///< Chain of the account and node after the last of `entries`.
    /// Place of the last entry in that chain: its change number. No hash covers it.
    std::uint64_t last_change = 0;
    /// Place among the groups of its order, 1, 2, 3 ..., whichever node wrote them.
    /// 0 without an order, and for a credit that names one. No hash covers it.
    std::uint64_t order_change = 0;
};

struct BalanceKey {
    AccountNumber account;
    ProgramId program{};
    CreatorId creator{};
    Currency currency{};
    friend auto operator<=>(const BalanceKey&, const BalanceKey&) = default;
};

/// Balances of a creator's ledger accounts, or changes of them. The accounts of all payouts are one
/// here, and expense is minus the sum.
struct AccountSums {
    Decimal owed, in_payout, paid;

    AccountSums& operator+=(const AccountSums& change) noexcept {
        owed += change.owed;
        in_payout += change.in_payout;
        paid += change.paid;
        return *this;
    }
    AccountSums& operator-=(const AccountSums& change) noexcept {
        owed -= change.owed;
        in_payout -= change.in_payout;
        paid -= change.paid;
        return *this;
    }
    [[nodiscard]] bool is_zero() const noexcept {
        return owed.is_zero() && in_payout.is_zero() && paid.is_zero();
    }
    friend bool operator==(const AccountSums&, const AccountSums&) = default;
};

/// Stored in a part per node; readers see the sum of the parts. core/statements/statements.hpp
/// tells pending, blocked and payable apart at an instant.
struct Balance : AccountSums {
    BalanceKey key;
};

}  // namespace sluice
