// Payout names: ids and words of payouts (books P2, P3).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/ledger/payout_rows.hpp"

namespace sluice {

[[nodiscard]] std::string_view to_string(ItemKind kind) noexcept;      // COMMISSION, ...
[[nodiscard]] std::string_view to_string(SkipReason why) noexcept;     // NOT_POSITIVE, ...
[[nodiscard]] std::string_view to_string(PayoutState state) noexcept;  // CLOSED, ...
[[nodiscard]] std::optional<PayoutState> parse_payout_state(std::string_view text) noexcept;

/// `P260131140509-7KQ4M9-0001`. @param number  1, 2, ... within the run.
[[nodiscard]] std::string payout_id(std::string_view run, std::uint64_t number);

}  // namespace sluice
