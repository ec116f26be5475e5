// Words of a creator's page: the closed lists of names.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/ledger/journal_rows.hpp"
#include "core/ledger/payout_rows.hpp"
#include "core/values/timestamp.hpp"

namespace sluice {

/// Returns `2026-01-31`: a creator sees no hour.
[[nodiscard]] std::string day_of_creator(Timestamp at);
[[nodiscard]] std::optional<std::string> day_of_creator(const std::optional<Timestamp>& at);

inline constexpr std::string_view kCreatorPending = "PENDING";
inline constexpr std::string_view kCreatorChecked = "CHECKED";

/// @param status  As OrderJudge::status() returns it.
[[nodiscard]] std::string_view creator_order_state(std::string_view status);
[[nodiscard]] std::string_view creator_payment_state(PayoutState state) noexcept;
[[nodiscard]] std::string_view creator_skip_reason(SkipReason reason) noexcept;
/// Returns the word of a posting that changes what a creator is owed.
[[nodiscard]] std::string_view creator_entry_word(JournalReason reason) noexcept;

}  // namespace sluice
