// Item slices: what hangs on payouts, read for many of them at once.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/ledger/ledger.hpp"

namespace sluice {

/// True if the items are of one payout, and of one order in one program.
[[nodiscard]] bool is_of_one_order(const PayoutItem& a, const PayoutItem& b);

/// Items of payouts, by payout id and key. Payouts whose ids follow one another, as those of a run
/// do, are read in one go.
class ItemSlices {
public:
    /// Payouts and ledger outlive it.
    ItemSlices(std::span<const Payout> payouts, LedgerReader& ledger);

    /// About kPayoutSlice items; a slice never ends between two items of one order, which is
    /// changed whole. False: there are no more.
    [[nodiscard]] bool next(std::vector<std::pair<const Payout*, PayoutItem>>& slice);

private:
    /// @return false: the slice is full.
    bool read_on(std::vector<std::pair<const Payout*, PayoutItem>>& slice);

    std::vector<const Payout*> payouts_;  ///< By id.
    std::size_t at_ = 0;
    bool resumed_ = false;
    PayoutItem last_;
    LedgerReader& ledger_;
};

/// By payout id.
using PartsOf = std::map<std::string, std::vector<PayoutPart>>;
[[nodiscard]] PartsOf parts_of(std::span<const Payout> payouts, LedgerReader& ledger);

}  // namespace sluice
