// Payout digest: what proves that a payout still has the items that it was closed with (books P2,
// P5).
#pragma once

#include <string>
#include <vector>

#include "core/ledger/payout_rows.hpp"
#include "core/protocol/signature.hpp"

namespace sluice {

/// Of a payout's items, which are in the order of their keys (docs/record-format.md).
[[nodiscard]] Digest256 items_digest(const std::vector<PayoutItem>& items, Currency currency);

/// items_digest() of items that come one after the other.
class RunningItemsDigest {
public:
    void add(const PayoutItem& item, Currency currency);
    [[nodiscard]] Digest256 digest() const noexcept { return sha_.digest(); }

private:
    RunningSha256 sha_;
    std::string bytes_;
};

/// Adds a payout to the digest of a run: payouts by creator, currency.
void add_payout(RunningSha256& run, const CreatorId& creator, Currency currency,
                const Decimal& amount, const Digest256& items);

}  // namespace sluice
