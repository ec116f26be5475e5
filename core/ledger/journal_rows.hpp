// The journal: entries, their groups, and the sums of the books (books J1, J2).
//
// Plain values without behaviour; they own their bytes.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/protocol/signature.hpp"
#include "core/values/currency.hpp"
#include "core/values/decimal.hpp"
#include "core/values/ids.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

/// Why an entry was written. A transfer's reason implies its books; from 64 on they are marks.
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
    kMarkAttributed = 64,
    kMarkDetached = 65,
    kMarkRejected = 66,
    kMarkHeld = 67,
    kMarkReleased = 68,
    kMarkAcknowledged = 69,
    kMarkClosed = 70,
    kMarkApproved = 71,
    kMarkSent = 72,
    kMarkReset = 73,
    kMarkPeriodClosed = 74,
    kMarkPolicyChanged = 75,
    kMarkRenamed = 76,
};
[[nodiscard]] constexpr bool is_mark(JournalReason reason) noexcept {
    return reason >= JournalReason::kMarkAttributed;
}

/// Four per account, program, creator and currency; kPayout stands for one per payout.
enum class Book : std::uint8_t { kNone = 0, kExpense = 1, kOwed = 2, kPayout = 3, kPaid = 4 };

/// A transfer (never 0) or a mark (no currency, amount 0).
struct JournalEntry {
    LineItemId line;  ///< Empty: none. Marks keep their object here (docs/record-format.md).
    Currency currency;
    Decimal amount;
    JournalReason reason = JournalReason::kAccrual;
    std::uint64_t refers_to = 0;  ///< An entry, if this one came late (S1); 0: none.
};

/// Entries of one input that have these fields in common: numbers first_entry, first_entry + 1 ...
/// Dense per node, so a node's journal is one sequence. Never changed once written.
struct JournalGroup {
    std::string node;  ///< UUID of the queue whose input wrote it.
    std::uint64_t first_entry = 0;
    SequenceNumber event_seq;
    std::string command_id;  ///< Empty: an order event.
    AccountNumber account;
    ShopNumber shop;    ///< 0: none.
    OrderId order_id;   ///< Empty: none.
    ProgramId program;  ///< Empty: none (marks).
    CreatorId creator;  ///< Empty: none (marks).
    std::string payout_id;
    Timestamp recorded_at;              ///< Receipt.
    Timestamp accounting_date;          ///< When statements show it (S1).
    std::string note, actor;            ///< Of a command: why, and who.
    std::vector<JournalEntry> entries;  ///< Transfers, then marks.
    Digest256 hash{};  ///< Chain of the account and node after the last of `entries`.
};

struct BalanceKey {
    AccountNumber account;
    ProgramId program;
    CreatorId creator;
    Currency currency;
    friend auto operator<=>(const BalanceKey&, const BalanceKey&) = default;
};

/// Sums of the books; expense is minus their sum. core/statements/balance.hpp tells pending,
/// blocked and payable apart at an instant. Stored in a part per node; readers see the sum of the
/// parts.
struct Balance {
    BalanceKey key;
    Decimal owed;
    Decimal in_payout;
    Decimal paid;
};

}  // namespace sluice
