// Store senders: judges shops by the store's registry, and times of receipt by the clock.
#pragma once

#include <optional>
#include <string>

#include "core/apply/sender_check.hpp"
#include "lmdb_store/store/format.hpp"

namespace sluice::worker {

/// nginx can read the registry and not write to it. The registry is read only for shops that the
/// ledger does not know. Not thread-safe.
class StoreSenders final : public SenderCheck {
public:
    explicit StoreSenders(store::StorePaths paths) : paths_(std::move(paths)) {}

    /// Throws LedgerFailure if the registry cannot be read.
    std::optional<std::string> shop_fault(const RecordMeta& meta) override;
    bool is_from_future(Timestamp received_at) override;

private:
    store::StorePaths paths_;
    Timestamp latest_;  ///< The latest plausible receipt, when the clock was last read.
};

}  // namespace sluice::worker
