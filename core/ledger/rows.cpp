// The names of the values in rows, as people and files write them.
#include "core/ledger/rows.hpp"

#include "core/ledger/payout_rows.hpp"
#include "core/values/name_table.hpp"

namespace sluice {
namespace {

constexpr NameTable<AnomalyKind, kAnomalyKinds - 1> kAnomalies{{
    {AnomalyKind::kVersionInFuture, "VERSION_IN_FUTURE"},
    {AnomalyKind::kCancelWithoutCancelledAt, "CANCEL_WITHOUT_CANCELLED_AT"},
    {AnomalyKind::kCancelNotLater, "CANCEL_NOT_LATER"},
    {AnomalyKind::kCancellationWithdrawn, "CANCELLATION_WITHDRAWN"},
    {AnomalyKind::kDuplicateRefundId, "DUPLICATE_REFUND_ID"},
    {AnomalyKind::kRefundIdReused, "REFUND_ID_REUSED"},
    {AnomalyKind::kRefundExceedsLine, "REFUND_EXCEEDS_LINE"},
    {AnomalyKind::kLinesExceedAmount, "LINES_EXCEED_AMOUNT"},
    {AnomalyKind::kTaxExceedsAmount, "TAX_EXCEEDS_AMOUNT"},
    {AnomalyKind::kCommissionExceedsBase, "COMMISSION_EXCEEDS_BASE"},
    {AnomalyKind::kAmountAboveLimit, "AMOUNT_ABOVE_LIMIT"},
    {AnomalyKind::kOrderedInFuture, "ORDERED_IN_FUTURE"},
    {AnomalyKind::kOrderedLongAgo, "ORDERED_LONG_AGO"},
    {AnomalyKind::kCurrencyChanged, "CURRENCY_CHANGED"},
    {AnomalyKind::kCreditedOrder, "CREDITED_ORDER"},
    {AnomalyKind::kDebtWrittenOff, "DEBT_WRITTEN_OFF"},
    {AnomalyKind::kRefundNotByLine, "REFUND_NOT_BY_LINE"},
    {AnomalyKind::kTotalsDiffer, "TOTALS_DIFFER"},
    {AnomalyKind::kQuantityRounded, "QUANTITY_ROUNDED"},
}};
constexpr NameTable<ItemKind, 4> kKinds{{
    {ItemKind::kAdjustment, "ADJUSTMENT"},
    {ItemKind::kCommission, "COMMISSION"},
    {ItemKind::kCredit, "CREDIT"},
    {ItemKind::kManual, "MANUAL"},
}};
constexpr NameTable<SkipReason, 7> kReasons{{
    {SkipReason::kNotPositive, "NOT_POSITIVE"},
    {SkipReason::kBelowMinimum, "BELOW_MINIMUM"},
    {SkipReason::kBlocked, "BLOCKED"},
    {SkipReason::kHeld, "HELD"},
    {SkipReason::kExcluded, "EXCLUDED"},
    {SkipReason::kNoPayee, "NO_PAYEE"},
    {SkipReason::kPayeeChanged, "PAYEE_CHANGED"},
}};
constexpr NameTable<PayoutState, 7> kStates{{
    {PayoutState::kClosed, "CLOSED"},
    {PayoutState::kApproved, "APPROVED"},
    {PayoutState::kSent, "SENT"},
    {PayoutState::kPaid, "PAID"},
    {PayoutState::kVoid, "VOID"},
    {PayoutState::kFailed, "FAILED"},
    {PayoutState::kReturned, "RETURNED"},
}};

}  // namespace

std::string_view to_string(AnomalyKind kind) noexcept {
    return name_in(kAnomalies, kind, "UNKNOWN");
}

Parsed<AnomalyKind> parse_anomaly_kind(std::string_view text) noexcept {
    return value_in(kAnomalies, text);
}

std::string_view to_string(ItemKind kind) noexcept {
    return name_in(kKinds, kind, "UNKNOWN");
}

std::string_view to_string(SkipReason why) noexcept {
    return name_in(kReasons, why, "UNKNOWN");
}

std::string_view to_string(PayoutState state) noexcept {
    return name_in(kStates, state, "UNKNOWN");
}

Parsed<PayoutState> parse_payout_state(std::string_view text) noexcept {
    return value_in(kStates, text);
}

}  // namespace sluice
