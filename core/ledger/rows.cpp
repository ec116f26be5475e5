#include "core/ledger/rows.hpp"

#include <array>
#include <utility>

namespace sluice {
namespace {

constexpr std::array<std::pair<AnomalyKind, std::string_view>, 15> kAnomalies{{
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
}};

}  // namespace

std::string_view to_string(AnomalyKind kind) noexcept {
    for (const auto& [known, name] : kAnomalies) {
        if (known == kind) {
            return name;
        }
    }
    return "UNKNOWN";
}

std::optional<AnomalyKind> parse_anomaly_kind(std::string_view text) noexcept {
    for (const auto& [kind, name] : kAnomalies) {
        if (name == text) {
            return kind;
        }
    }
    return std::nullopt;
}

}  // namespace sluice
