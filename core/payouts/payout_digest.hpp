// Payout digest: what proves that a payout still has the items that it was closed with (books P2,
// P5).
#pragma once

#include <string>
#include <vector>

#include "core/ledger/payout_rows.hpp"

namespace sluice {

/// Of a payout's items, which are in the order of their keys (docs/record-format.md).
[[nodiscard]] Digest256 items_digest(const std::vector<PayoutItem>& items, Currency currency);

/// Adds a payout to the bytes whose SHA-256 is the digest of a run: payouts by creator, currency.
void append_payout(std::string& bytes, const CreatorId& creator, Currency currency,
                   const Decimal& amount, const Digest256& items);

}  // namespace sluice
