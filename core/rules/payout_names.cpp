#include "core/rules/payout_names.hpp"

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
constexpr std::array<std::pair<SkipReason, std::string_view>, 6> kReasons{{
    {SkipReason::kNotPositive, "NOT_POSITIVE"},
    {SkipReason::kBelowMinimum, "BELOW_MINIMUM"},
    {SkipReason::kBlocked, "BLOCKED"},
    {SkipReason::kHeld, "HELD"},
    {SkipReason::kExcluded, "EXCLUDED"},
    {SkipReason::kNoPayee, "NO_PAYEE"},
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

/// Length as u32, little endian, then the bytes.
void append_text(std::string& bytes, std::string_view text) {
    constexpr unsigned kBitsPerByte = 8;
    for (unsigned i = 0; i < sizeof(std::uint32_t); ++i) {
        bytes.push_back(static_cast<char>(text.size() >> (kBitsPerByte * i)));
    }
    bytes.append(text);
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

Digest256 items_digest(const std::vector<PayoutItem>& items, Currency currency) {
    std::string bytes;
    for (const PayoutItem& item : items) {
        append_text(bytes, item.program.view());
        append_text(bytes, item.shop_id.view());
        append_text(bytes, item.order_id.view());
        append_text(bytes, item.line.view());
        append_text(bytes, to_string(item.kind));
        append_text(bytes, currency.code());
        append_text(bytes, item.amount.to_string());
    }
    return sha256(bytes);
}

void append_payout(std::string& bytes, const CreatorId& creator, Currency currency,
                   const Decimal& amount, const Digest256& items) {
    append_text(bytes, creator.view());
    append_text(bytes, currency.code());
    append_text(bytes, amount.to_string());
    bytes.append(items.begin(), items.end());
}

}  // namespace sluice
