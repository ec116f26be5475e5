// Shop names: the names behind the numbers of records, learned once.
#pragma once

#include <cstdint>
#include <unordered_set>

#include "core/ledger/ledger.hpp"
#include "core/protocol/record.hpp"

namespace sluice {

class ShopNames {
public:
    /// Stores the shop of a record that the ledger does not know yet. Throws LedgerFailure
    /// (kConflict) if the ledger knows the number under another name.
    void learn(const RecordMeta& meta, LedgerTxn& txn);
    void clear() noexcept { known_.clear(); }

private:
    std::unordered_set<std::uint32_t> known_;
};

}  // namespace sluice
