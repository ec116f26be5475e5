#include "core/ledger/payout_rows.hpp"

#include <array>
#include <utility>

namespace sluice {
namespace {

constexpr std::array<std::pair<ItemKind, std::string_view>, 4> kKinds{{
    {ItemKind::kAdjustment, "ADJUSTMENT"},
    {ItemKind::kCommission, "COMMISSION"},
    {ItemKind::kCredit, "CREDIT"},
    {ItemKind::kManual, "MANUAL"},
}};
constexpr std::array<std::pair<SkipReason, std::string_view>, 7> kReasons{{
    {SkipReason::kNotPositive, "NOT_POSITIVE"},
    {SkipReason::kBelowMinimum, "BELOW_MINIMUM"},
    {SkipReason::kBlocked, "BLOCKED"},
    {SkipReason::kHeld, "HELD"},
    {SkipReason::kExcluded, "EXCLUDED"},
    {SkipReason::kNoPayee, "NO_PAYEE"},
    {SkipReason::kPayeeChanged, "PAYEE_CHANGED"},
}};
constexpr std::array<std::pair<PayoutState, std::string_view>, 7> kStates{{
    {PayoutState::kClosed, "CLOSED"},
    {PayoutState::kApproved, "APPROVED"},
    {PayoutState::kSent, "SENT"},
    {PayoutState::kPaid, "PAID"},
    {PayoutState::kVoid, "VOID"},
    {PayoutState::kFailed, "FAILED"},
    {PayoutState::kReturned, "RETURNED"},
}};

template <class Table, class Value>
std::string_view name_in(const Table& table, Value value) noexcept {
    for (const auto& [known, name] : table) {
        if (known == value) {
            return name;
        }
    }
    return "UNKNOWN";
}

}  // namespace

std::string_view to_string(ItemKind kind) noexcept {
    return name_in(kKinds, kind);
}

std::string_view to_string(SkipReason why) noexcept {
    return name_in(kReasons, why);
}

std::string_view to_string(PayoutState state) noexcept {
    return name_in(kStates, state);
}

std::optional<PayoutState> parse_payout_state(std::string_view text) noexcept {
    for (const auto& [state, name] : kStates) {
        if (name == text) {
            return state;
        }
    }
    return std::nullopt;
}

}  // namespace sluice
