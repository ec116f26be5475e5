#include "core/creators/words.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "core/values/name_table.hpp"

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
constexpr NameTable<PayoutState, 4> kPaymentStates{{
    {PayoutState::kClosed, "PREPARING"},
    {PayoutState::kApproved, "PREPARING"},
    {PayoutState::kSent, "SENT"},
    {PayoutState::kPaid, "PAID"},
}};
constexpr NameTable<SkipReason, 5> kSkipReasons{{
    {SkipReason::kNotPositive, "NOT_POSITIVE"},
    {SkipReason::kBelowMinimum, "BELOW_MINIMUM"},
    {SkipReason::kNoPayee, "NO_PAYEE"},
    {SkipReason::kPayeeChanged, "PAYEE_CHANGED"},
    {SkipReason::kExcluded, "EXCLUDED"},
}};
constexpr NameTable<JournalReason, 14> kEntryWords{{
    {JournalReason::kAccrual, "EARNED"},
    {JournalReason::kAttribution, "EARNED"},
    {JournalReason::kRefund, "REFUND"},
    {JournalReason::kCancellation, "CANCELLED"},
    {JournalReason::kUpdate, "ORDER_CHANGED"},
    {JournalReason::kTier, "MONTH_VOLUME"},
    {JournalReason::kDetach, "TAKEN_BACK"},
    {JournalReason::kReject, "TAKEN_BACK"},
    {JournalReason::kCredit, "CREDIT"},
    {JournalReason::kOpening, "CARRIED_OVER"},
    {JournalReason::kPayout, "PAYMENT"},
    {JournalReason::kVoid, "PAYMENT_CAME_BACK"},
    {JournalReason::kFailed, "PAYMENT_CAME_BACK"},
    {JournalReason::kReturned, "PAYMENT_CAME_BACK"},
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
    return name_in(kPaymentStates, state, "CAME_BACK");
}

std::string_view creator_skip_reason(SkipReason reason) noexcept {
    return name_in(kSkipReasons, reason, "CHECKED");
}

std::string_view creator_entry_word(JournalReason reason) noexcept {
    return name_in(kEntryWords, reason, "CORRECTION");
}

}  // namespace sluice
