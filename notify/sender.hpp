// Sender: the loop of `sluice notify run`. Reads the feed of each destination, sends what may be
// sent, and stores the outcomes.
//
// The feed is the buffer: the store has a cursor for each destination, and the changes at or before
// it that are not finished. A killed process repeats what it had not stored yet. Threads: one runs
// it; the feed reader and the chain watch have their own.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <string>

#include "core/values/result.hpp"
#include "lmdb_store/destinations/destination_store.hpp"
#include "lmdb_store/store/format.hpp"
#include "lmdb_store/store/master_key.hpp"
#include "worker/drain/target_ledger.hpp"

namespace sluice::notify {

struct SenderOptions {
    std::string ca_file;  ///< As in HttpLimits.
    /// Returns whether this process may send now. Does not wait. Empty means yes.
    std::function<bool()> may_send;
    store::StorePaths store{std::filesystem::path()};  ///< Its ledger is read.
    /// Returns whether the store still has the ledger of the start, which decides who may send.
    /// Empty means yes.
    std::function<bool()> has_same_ledger;
};

/// Tells the service manager that it is ready, and sends until `stop`; then waits for the requests
/// under way. Returns an error if the store cannot be read.
[[nodiscard]] Status send_notifications(store::DestinationStore& store, const store::MasterKey& key,
                                        worker::LedgerOpener open, SenderOptions options,
                                        const std::atomic<bool>& stop);

}  // namespace sluice::notify
