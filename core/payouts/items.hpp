// Payout items: reading those of many payouts at once, counting their orders, and the digests that
// prove that a payout still has the items that it was closed with (rules P2, P5).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "core/protocol/signature.hpp"

namespace sluice {

/// Items or positions that are read, changed and written together: bounds the memory of a command
/// over many payouts.
inline constexpr std::size_t kPayoutSlice = 8192;

/// Returns true if both items belong to one payout, and to one order in one program.
[[nodiscard]] bool is_of_one_order(const PayoutItem& a, const PayoutItem& b);

/// The items of payouts, by payout id and key. Payouts whose ids follow one another, as those of a
/// payout run do, are read in one scan.
class ItemSlices {
public:
    /// `payouts` and `ledger` must outlive this object.
    ItemSlices(std::span<const Payout> payouts, LedgerReader& ledger);

    /// Reads about kPayoutSlice items. A slice never ends between two items of one order, because
    /// an order is changed as a whole. Returns false after the last slice.
    [[nodiscard]] bool next(std::vector<std::pair<const Payout*, PayoutItem>>& slice);

private:
    /// Returns false if the slice is full.
    bool read_on(std::vector<std::pair<const Payout*, PayoutItem>>& slice);

    std::vector<const Payout*> payouts_;  ///< By id.
    std::size_t at_ = 0;
    bool resumed_ = false;
    PayoutItem last_;
    LedgerReader& ledger_;
};

/// Parts by payout id.
using PartsOf = std::map<std::string, std::vector<PayoutPart>>;
[[nodiscard]] PartsOf parts_of(std::span<const Payout> payouts, LedgerReader& ledger);

/// Returns the number of distinct orders; a credit without an order is none.
/// @param items  All items of one payout, in the order of their keys.
[[nodiscard]] std::uint64_t orders_of(const std::vector<PayoutItem>& items);

/// Digest of a payout's items, which are added in the order of their keys (docs/record-format.md).
class ItemsDigest {
public:
    void add(const PayoutItem& item, Currency currency);
    [[nodiscard]] Digest256 digest() const noexcept { return sha_.digest(); }

private:
    RunningSha256 sha_;
    std::string bytes_;
};

/// Adds a payout to the digest of a payout run, in the order of (creator, currency).
/// @param digest  payout_digest()
void add_payout(RunningSha256& run, const CreatorId& creator, Currency currency,
                const Decimal& amount, const Digest256& digest);

}  // namespace sluice
