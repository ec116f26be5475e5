// Feed reader: a thread that reads the ledger for the process that sends, because a read of
// PostgreSQL may take long.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/lists/changes.hpp"
#include "lmdb_store/destinations/rows.hpp"
#include "worker/access/open_ledger.hpp"

namespace sluice::notify {

/// A change as it is sent.
struct Notice {
    store::PendingChange change;
    std::string webhook_id, type, body;
};

/// Returns whether a destination gets changes of this type.
/// @param types  Those of the destination. Empty means all.
[[nodiscard]] bool takes(const std::vector<std::string>& types, std::string_view type);

/// Asks for changes of an account.
struct FeedOrder {
    std::string destination{}, uuid{};  ///< For the caller.
    std::uint64_t replay = 0;           ///< For the caller: Replay::number, or 0.
    AccountNumber account{};
    lists::FeedPlace after{};
    std::size_t limit = 0;
    std::vector<std::string> types{};     ///< Empty means all.
    std::uint64_t since = 0;              ///< Only changes recorded at or after this time.
    std::vector<store::ChangeId> only{};  ///< These alone, if there are any; `after` is not used.
};

struct FeedBatch {
    FeedOrder order;
    std::vector<Notice> notices;
    lists::FeedPlace place;     ///< The end of what was read.
    bool more = false;          ///< There are further changes.
    std::uint64_t entries = 0;  ///< Entries in all chains of the account when this was read.
    bool diverged = false;
    std::optional<Error> error;  ///< The ledger cannot be read.
};

/// Longest body of a notification.
inline constexpr std::size_t kBodyBytesMax = 65'536;

/// Reads what an order asks for, in one snapshot. Throws LedgerFailure.
[[nodiscard]] FeedBatch read_feed(LedgerReader& ledger, FeedOrder order);

class FeedReader {
public:
    /// @param wake  Called on the reader's thread whenever take() has something.
    FeedReader(cli::OpenLedger ledger, std::function<void()> wake)
        : ledger_(std::move(ledger)),
          wake_(std::move(wake)),
          thread_([this](const std::stop_token& stop) { run(stop); }) {}

    /// Ends the thread after its present read.
    void stop() { thread_ = {}; }
    void submit(FeedOrder order);
    [[nodiscard]] std::vector<FeedBatch> take();

private:
    void run(const std::stop_token& stop);
    [[nodiscard]] FeedBatch read(FeedOrder order);

    cli::OpenLedger ledger_;
    std::function<void()> wake_;
    std::mutex mutex_;
    std::condition_variable_any filled_;
    std::deque<FeedOrder> orders_;
    std::vector<FeedBatch> done_;
    std::jthread thread_;  ///< Ends before the members that it uses.
};

}  // namespace sluice::notify
