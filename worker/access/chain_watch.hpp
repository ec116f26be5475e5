// Chain watch: notices that a ledger has new changes, for the requests that wait for them.
//
// A thread of its own, because a read of PostgreSQL may take long. Idle while no request waits.
#pragma once

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "core/values/ids.hpp"
#include "worker/access/open_ledger.hpp"

namespace sluice::cli {

/// Entries of the chains of each account, on all nodes.
using ChainEntries = std::map<AccountNumber, std::uint64_t>;

class ChainWatch {
public:
    /// Called on the watch's thread whenever the ledger may have changed. Nothing means that the
    /// ledger cannot be read.
    using Notice = std::function<void(std::optional<ChainEntries> entries)>;

    /// Reads an embedded ledger every 50 ms, and another one every 250 ms.
    explicit ChainWatch(OpenLedger ledger) : ledger_(std::move(ledger)) {}

    /// Requires: called once.
    void start(Notice notice);
    /// Begins to watch, with a notice at once, or ends. May be called on any thread.
    void watch(bool wanted);
    void stop();

private:
    void run(const std::stop_token& stop);
    /// Returns the entries if they may have changed since the last call.
    [[nodiscard]] std::optional<ChainEntries> changed();

    Notice notice_;
    OpenLedger ledger_;
    std::uint64_t seen_ = 0;  ///< Journal entries of all nodes at the last read.
    bool is_new_ = true;      ///< The next read is the first since watch().
    std::mutex mutex_;
    std::condition_variable_any changed_;
    bool wanted_ = false;
    std::jthread thread_;  ///< Ends before the members that it uses.
};

}  // namespace sluice::cli
