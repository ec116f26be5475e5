// Payout rows: open amounts, payout runs, payouts and their items (rules P1 to P6).
//
// Plain values without behaviour, which own their bytes, and ClearedRows, which lists some.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/protocol/signature.hpp"
#include "core/values/decimal.hpp"
#include "core/values/ids.hpp"
#include "core/values/interface.hpp"
#include "core/values/money.hpp"
#include "core/values/name_table.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

/// Bit of OpenAmount::blocks; the others are those of AnomalyKind.
inline constexpr std::uint32_t kBlockedByHold = 1;
/// Bit of OpenAmount::blocks of a write-off, which is payable only against amounts below 0.
inline constexpr std::uint32_t kOfWriteOff = 1U << 30U;

/// The open amount of a position or credit (accrued - allocated, never 0) in one currency. A payout
/// close reads these in the order of their keys: in each program first the rows that an item of an
/// active payout cleared, then by the instant of the sale.
struct OpenAmount {
    AccountNumber account;
    ProgramId program;
    bool cleared = false;  ///< By an item in an active payout, whatever the clearing days.
    Timestamp sold_at{};   ///< platform_ordered_at, or --sale-at of a credit.
    ShopNumber shop{};     ///< 0 for a credit, whose command id is in order_id.
    OrderId order_id{};
    CreatorId creator{};
    Currency currency{};
    Decimal amount{};
    Timestamp last_posted{};  ///< Accrued before a later instant is accrued now.
    /// The order's: kBlockedByHold, unacknowledged anomalies. A credit has none but kOfWriteOff.
    std::uint32_t blocks = 0;
};

/// Which open amounts of a program have cleared: those that an active item cleared, and those sold
/// at or before `sold_until`.
struct ClearedOf {
    ProgramId program;
    Timestamp sold_until;
};

/// Open amounts that a payout close may take from: see LedgerReader::cleared(). Sorted as
/// cleared_key() says. One thread at a time.
class ClearedRows : public Interface {
public:
    /// Visits the rows, from the first one at each call, until `visit` returns false. `visit` may
    /// read and write the ledger.
    virtual void visit(const Visitor<OpenAmount>& visit) = 0;
};
/// Returns creator, currency, program, shop id (empty for a credit) and order id as a sort key.
[[nodiscard]] std::string cleared_key(const OpenAmount& row, std::string_view shop_id);

enum class PayoutState : std::uint8_t {
    kClosed = 1,
    kApproved = 2,
    kSent = 3,
    kPaid = 4,
    kVoid = 5,
    kFailed = 6,
    kReturned = 7,
};
template <>
inline constexpr NameTable<PayoutState, 7> kNamesOf<PayoutState>{{
    {PayoutState::kClosed, "CLOSED"},
    {PayoutState::kApproved, "APPROVED"},
    {PayoutState::kSent, "SENT"},
    {PayoutState::kPaid, "PAID"},
    {PayoutState::kVoid, "VOID"},
    {PayoutState::kFailed, "FAILED"},
    {PayoutState::kReturned, "RETURNED"},
}};
/// Returns whether the payout's items are allocated to it.
[[nodiscard]] constexpr bool is_active(PayoutState state) noexcept {
    return state <= PayoutState::kPaid;
}

/// One payout close.
struct PayoutRun {
    std::string payout_run;  ///< Command id of the close.
    std::string node{};      ///< UUID of the queue that it came through.
    AccountNumber account{};
    Timestamp until{}, closed_at{};
    std::string closed_by{};
    std::uint64_t payouts_count = 0;
    Digest256 digest{};  ///< As `payout preview` prints it.
};

/// A payout run by its cut-off, which later closes of the same programs must not precede (K7).
struct RunUntil {
    AccountNumber account;
    Timestamp until;
    std::string payout_run;
    std::string programs;  ///< Ids with a space between; empty means all of the account.
};

struct Payout {
    std::string payout_id;  ///< The payout run's id with `P` for `C`, then `-` and the number
                            ///< within the run.
    AccountNumber account{};
    CreatorId creator{};
    Currency currency{};
    Decimal amount{};
    PayoutState state = PayoutState::kClosed;
    Timestamp until{}, closed_at{};
    std::string closed_by{};
    std::string payee{};         ///< Frozen by the close; `payout repoint` sets another one.
    std::string repointed_by{};  ///< The actor of the last repoint, who may not approve it.
    std::uint32_t repoints = 0;
    std::string approved_by{};  ///< Empty if it needs no approval, or still waits for it.
    std::optional<Timestamp> approved_at{};
    std::string payees_sha256{};  ///< The approved file of bank accounts, or empty.
    std::string sent_by{};
    std::optional<Timestamp> sent_at{};
    std::string message{};   ///< The exported message that holds it, or empty.
    std::string ended_by{};  ///< Settled, void, failed or returned by.
    std::optional<Timestamp> ended_at{};
    std::string end_reason{};  ///< Why it is void, failed or returned, or empty.
    std::string bank_ref{};
    std::optional<Timestamp> paid_at{};  ///< As `--paid-at` said.
    std::uint64_t orders_count = 0, items_count = 0;
    Digest256 items_digest{};
};

/// The part of a payout that one program pays. The parts add up to the payout's amount.
struct PayoutPart {
    std::string payout_id;
    ProgramId program{};
    Decimal amount{};
};

enum class ItemKind : std::uint8_t { kAdjustment = 1, kCommission = 2, kCredit = 3, kManual = 4 };
template <>
inline constexpr NameTable<ItemKind, 4> kNamesOf<ItemKind>{{
    {ItemKind::kAdjustment, "ADJUSTMENT"},
    {ItemKind::kCommission, "COMMISSION"},
    {ItemKind::kCredit, "CREDIT"},
    {ItemKind::kManual, "MANUAL"},
}};

/// Fixed for ever. The values of ItemKind sort as their names do: items are digested in key order.
struct PayoutItem {
    std::string payout_id;
    ProgramId program{};
    ShopId shop_id{};    ///< Empty for a credit that names no order.
    OrderId order_id{};  ///< Empty for a credit that names no order.
    LineItemId line{};   ///< Empty for MANUAL. The command id of a CREDIT.
    ItemKind kind = ItemKind::kCommission;
    Decimal amount{};
    ShopNumber shop{};
    Timestamp sold_at{};
};

/// A creator who got nothing, or less, in a payout run, with the reason.
enum class SkipReason : std::uint8_t {
    kNotPositive = 1,
    kBelowMinimum = 2,
    kBlocked = 3,
    kHeld = 4,
    kExcluded = 5,
    kNoPayee = 6,
    kPayeeChanged = 7,  ///< Less than payee_cooling_days ago.
};
template <>
inline constexpr NameTable<SkipReason, 7> kNamesOf<SkipReason>{{
    {SkipReason::kNotPositive, "NOT_POSITIVE"},
    {SkipReason::kBelowMinimum, "BELOW_MINIMUM"},
    {SkipReason::kBlocked, "BLOCKED"},
    {SkipReason::kHeld, "HELD"},
    {SkipReason::kExcluded, "EXCLUDED"},
    {SkipReason::kNoPayee, "NO_PAYEE"},
    {SkipReason::kPayeeChanged, "PAYEE_CHANGED"},
}};
struct Skipped {
    std::string payout_run;
    CreatorId creator{};
    Currency currency{};
    SkipReason skip_reason = SkipReason::kNotPositive;
    Decimal amount{};
};

}  // namespace sluice
