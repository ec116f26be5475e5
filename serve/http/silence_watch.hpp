// Silence watch: reads once a minute when shops sent their last events, which of them sent orders
// without a device id, and how many commands had no valid seal, for the metrics.
//
// A thread of its own, because a scrape must not wait for the ledger.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/values/timestamp.hpp"
#include "lmdb_store/store/format.hpp"
#include "worker/drain/target_ledger.hpp"

namespace sluice::serve {

struct ShopActivity {
    std::string account_id, shop_id;
    Timestamp last_event;
    std::optional<std::chrono::seconds> limit;  ///< Nothing while the shop's habits are learned.
};

struct ShopLack {
    std::string account_id, shop_id;
    std::uint64_t devices;  ///< As of lists::ShopWithoutDevices, yesterday.
};

class SilenceWatch {
public:
    static constexpr std::size_t kShopsMax = 1000;

    SilenceWatch(worker::LedgerOpener open, store::StorePaths paths)
        : open_(std::move(open)), paths_(std::move(paths)) {}

    /// Begins to read, until this object is destroyed. Requires: called once.
    void start();
    /// Returns the shops that are silent for longest, at most kShopsMax, without those that are
    /// suspended. Empty if ledger or registry cannot be read. May be called on any thread.
    [[nodiscard]] std::vector<ShopActivity> shops();
    /// Returns the shops whose orders of yesterday carried no device id, although visitors followed
    /// links, at most kShopsMax, as shops().
    [[nodiscard]] std::vector<ShopLack> shops_without_devices();
    /// Returns the dead letters of all nodes that are commands without a valid seal: nginx, or
    /// another program that may append to a queue, wrote them. Nothing if the ledger cannot be
    /// read. May be called on any thread.
    [[nodiscard]] std::optional<std::uint64_t> unsealed_commands();

private:
    struct Found {
        std::vector<ShopActivity> shops;
        std::vector<ShopLack> lacks;
        std::optional<std::uint64_t> unsealed;
    };
    /// The dead letters of a node: counted again once the node has more or fewer, or a command,
    /// which may have replayed one, was applied.
    struct Counted {
        std::uint64_t dead = 0, commands = 0, unsealed = 0;
    };

    void run(const std::stop_token& stop);
    [[nodiscard]] Found read();
    [[nodiscard]] std::uint64_t count_unsealed(Ledger& ledger);

    worker::LedgerOpener open_;
    store::StorePaths paths_;
    std::mutex mutex_;
    std::condition_variable_any stopped_;
    Found found_;
    std::map<std::string, Counted> counted_;  ///< By node. The thread's.
    std::jthread thread_;                     ///< Ends before the members that it uses.
};

}  // namespace sluice::serve
