#include "core/creators/words.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

namespace sluice {
namespace {

/// The page does not say which hold or anomaly blocks an order.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kOrderStates{{
    {"pending", kCreatorPending},
    {"payable", "READY"},
    {"blocked", kCreatorChecked},
    {"in_payout", "ON_ITS_WAY"},
    {"paid", "PAID"},
    {"cancelled", "CANCELLED"},
}};

}  // namespace

std::string day_of_creator(Timestamp at) {
    constexpr std::size_t kDayDigits = 10;
    return at.to_string().substr(0, kDayDigits);
}

std::optional<std::string> day_of_creator(const std::optional<Timestamp>& at) {
    return at ? std::optional(day_of_creator(*at)) : std::nullopt;
}

std::string_view creator_order_state(std::string_view status) {
    const auto* const found =
        std::ranges::find(kOrderStates, status, &decltype(kOrderStates)::value_type::first);
    if (found == kOrderStates.end()) {
        throw std::logic_error("an order of this status is not on a creator's page");
    }
    return found->second;
}

std::string_view creator_payment_state(PayoutState state) noexcept {
    switch (state) {
        case PayoutState::kClosed:
        case PayoutState::kApproved:
            return "PREPARING";
        case PayoutState::kSent:
            return "SENT";
        case PayoutState::kPaid:
            return "PAID";
        case PayoutState::kVoid:
        case PayoutState::kFailed:
        case PayoutState::kReturned:
            break;
    }
    return "CAME_BACK";
}

std::string_view creator_skip_reason(SkipReason reason) noexcept {
    switch (reason) {
        case SkipReason::kNotPositive:
            return "NOT_POSITIVE";
        case SkipReason::kBelowMinimum:
            return "BELOW_MINIMUM";
        case SkipReason::kNoPayee:
            return "NO_PAYEE";
        case SkipReason::kPayeeChanged:
            return "PAYEE_CHANGED";
        case SkipReason::kExcluded:
            return "EXCLUDED";
        case SkipReason::kBlocked:
        case SkipReason::kHeld:
            break;
    }
    return "CHECKED";
}

std::string_view creator_entry_word(JournalReason reason) noexcept {
    switch (reason) {
        case JournalReason::kAccrual:
        case JournalReason::kAttribution:
            return "EARNED";
        case JournalReason::kRefund:
            return "REFUND";
        case JournalReason::kCancellation:
            return "CANCELLED";
        case JournalReason::kUpdate:
            return "ORDER_CHANGED";
        case JournalReason::kTier:
            return "MONTH_VOLUME";
        case JournalReason::kDetach:
        case JournalReason::kReject:
            return "TAKEN_BACK";
        case JournalReason::kCredit:
            return "CREDIT";
        case JournalReason::kOpening:
            return "CARRIED_OVER";
        case JournalReason::kPayout:
            return "PAYMENT";
        case JournalReason::kVoid:
        case JournalReason::kFailed:
        case JournalReason::kReturned:
            return "PAYMENT_CAME_BACK";
        default:
            return "CORRECTION";
    }
}

}  // namespace sluice
