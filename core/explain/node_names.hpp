// Node names: the queues that the numbers in rows stand for, and those that payouts came through.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "core/ledger/ledger.hpp"

namespace sluice {

/// Reads the heads once, when it is constructed.
class NodeNames {
public:
    explicit NodeNames(LedgerReader& ledger);

    /// Returns the UUID of the queue with this number (LedgerHead::number), or an empty string.
    [[nodiscard]] std::string of(std::uint32_t number) const;
    [[nodiscard]] std::size_t count() const noexcept { return names_.size(); }

private:
    std::map<std::uint32_t, std::string> names_;
};

/// An input by its queue.
struct InputPlace {
    std::string node;  ///< UUID of the queue.
    SequenceNumber seq;
};
/// Returns the inputs that were applied as the nth of all nodes' (Click::imported), by n. Reads the
/// order of batches once.
[[nodiscard]] std::map<SequenceNumber, InputPlace> inputs_at(
    LedgerReader& ledger, const std::set<SequenceNumber>& wanted);

/// Finds the queues that closes came through. Keeps the last one, because payouts of one close
/// follow one another.
class PayoutNodes {
public:
    explicit PayoutNodes(LedgerReader& ledger) : ledger_(ledger) {}

    /// Returns the UUID of the queue, or an empty string if the ledger lacks the payout run.
    [[nodiscard]] const std::string& of(const std::string& payout_id);

private:
    LedgerReader& ledger_;
    std::string run_, node_;  ///< Result of the last call.
};

}  // namespace sluice
