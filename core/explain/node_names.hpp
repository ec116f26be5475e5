// Node names: the queues behind the numbers that rows carry, and behind payouts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "core/ledger/ledger.hpp"

namespace sluice {

/// As the heads are when it is made.
class NodeNames {
public:
    explicit NodeNames(LedgerReader& ledger);

    /// UUID of the queue with this number (LedgerHead::number); empty: there is none.
    [[nodiscard]] std::string of(std::uint32_t number) const;
    [[nodiscard]] std::size_t count() const noexcept { return names_.size(); }

private:
    std::map<std::uint32_t, std::string> names_;
};

/// Command id of the close that made the payout (P2).
[[nodiscard]] std::string run_of_payout(const std::string& payout_id);
/// The queues that closes came through; payouts of one close stand together.
class PayoutNodes {
public:
    explicit PayoutNodes(LedgerReader& ledger) : ledger_(ledger) {}

    /// UUID of the queue; empty: the payout's run is not in the ledger.
    [[nodiscard]] const std::string& of(const std::string& payout_id);

private:
    LedgerReader& ledger_;
    std::string run_, node_;  ///< The one that was asked for last.
};

}  // namespace sluice
