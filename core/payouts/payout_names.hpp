// Payout names: the words for a payout's state, its items, and why one was passed over (books P2,
// P3).
#pragma once

#include <optional>
#include <string_view>

#include "core/ledger/payout_rows.hpp"

namespace sluice {

[[nodiscard]] std::string_view to_string(ItemKind kind) noexcept;      // COMMISSION, ...
[[nodiscard]] std::string_view to_string(SkipReason why) noexcept;     // NOT_POSITIVE, ...
[[nodiscard]] std::string_view to_string(PayoutState state) noexcept;  // CLOSED, ...
[[nodiscard]] std::optional<PayoutState> parse_payout_state(std::string_view text) noexcept;

}  // namespace sluice
