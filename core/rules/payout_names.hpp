// Payout names: words and digests of payouts (books P2, P3, P5).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ledger/payout_rows.hpp"

namespace sluice {

[[nodiscard]] std::string_view to_string(ItemKind kind) noexcept;      // COMMISSION, ...
[[nodiscard]] std::string_view to_string(SkipReason why) noexcept;     // NOT_POSITIVE, ...
[[nodiscard]] std::string_view to_string(PayoutState state) noexcept;  // CLOSED, ...
[[nodiscard]] std::optional<PayoutState> parse_payout_state(std::string_view text) noexcept;

/// Of a payout's items, which are in the order of their keys (docs/record-format.md).
[[nodiscard]] Digest256 items_digest(const std::vector<PayoutItem>& items, Currency currency);

/// Adds a payout to the bytes whose SHA-256 is the digest of a run: payouts by creator, currency.
void append_payout(std::string& bytes, const CreatorId& creator, Currency currency,
                   const Decimal& amount, const Digest256& items);

}  // namespace sluice
