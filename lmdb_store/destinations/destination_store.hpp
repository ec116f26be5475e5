// Destination store: `<store>/notify/`, written by commands and by the process that sends.
//
// Every change is one durable transaction. Threads: one at a time. Blocking: functions wait for the
// disk, those that write for LMDB's writer lock. Errors carry the sentence that people read.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/values/result.hpp"
#include "lmdb_store/destinations/rows.hpp"
#include "lmdb_store/store/format.hpp"
#include "lmdb_store/store/master_key.hpp"

namespace sluice::store {

inline constexpr std::size_t kDestinationsMax = 100;
/// Most attempts in the log, of all destinations together.
inline constexpr std::uint64_t kAttemptsMax = 100'000;
/// Greatest age of an attempt in the log.
inline constexpr std::uint64_t kAttemptAgeMaxMs = std::uint64_t{30} * 86'400'000;

/// Made by the first `sluice notify add`.
struct DestinationPaths {
    explicit DestinationPaths(const StorePaths& paths)
        : folder(paths.root / "notify"),
          key(paths.root / "notify.key"),
          run_lock(folder / "run.lock") {}
    std::filesystem::path folder, key;
    std::filesystem::path run_lock;  ///< Locked (flock) by the process that sends.
};

/// A sending process's changes of one destination. Ignored if the destination was removed.
struct DestinationStep {
    std::string id, uuid;
    std::uint64_t revision = 0;  ///< As it was read.
    /// Replaces the stored one, but for `disabled_*` of another revision, and `pending`.
    DestinationProgress progress;
    std::vector<ChangeId> finished;
    std::vector<PendingChange> put;  ///< After `finished`, which may name the same change.
    std::vector<Attempt> attempts;
    std::vector<Replay> replays;               ///< With their new places.
    std::vector<std::uint64_t> ended_replays;  ///< Numbers.
};

class DestinationStore final {
public:
    enum class Mode : std::uint8_t { kRead, kWrite };

    /// Creates the folder and the key, unless they exist.
    [[nodiscard]] static Status create(const StorePaths& store);
    /// Returns kNotFound if no destination was ever added, kUnsupported for another format, and
    /// kConflict for the folder of another store.
    [[nodiscard]] static Result<std::unique_ptr<DestinationStore>> open(const StorePaths& store,
                                                                        Mode mode);
    DestinationStore(const DestinationStore&) = delete;
    DestinationStore& operator=(const DestinationStore&) = delete;
    ~DestinationStore();

    /// Returns the key of the secrets. kCorrupt if it is not the one that sealed them.
    [[nodiscard]] Result<MasterKey> key() const;

    /// Returns a number that every committed change raises. Costs no system call.
    [[nodiscard]] std::uint64_t version() const noexcept;
    [[nodiscard]] bool still_in_place() const noexcept;
    [[nodiscard]] Result<std::vector<StoredDestination>> list();  ///< By id.
    /// Returns kNotFound if there is none.
    [[nodiscard]] Result<StoredDestination> find(const std::string& id);
    [[nodiscard]] Result<std::vector<PendingChange>> pending(const std::string& id);
    [[nodiscard]] Result<std::vector<Replay>> replays(const std::string& id);
    /// Visits the log, the newest attempt first, until `visit` returns false.
    [[nodiscard]] Status scan_attempts(const std::function<bool(const Attempt&)>& visit);

    /// Returns kConflict if the id is taken, and kLimit beyond kDestinationsMax.
    [[nodiscard]] Status add(const StoredDestination& added);
    /// Changes a destination and raises its revision. `change` returns an error to change nothing.
    [[nodiscard]] Status change(const std::string& id,
                                const std::function<Status(StoredDestination&)>& change);
    [[nodiscard]] Status remove(const std::string& id);
    [[nodiscard]] Status add_replay(const std::string& id, Replay replay);

    /// Stores what a sending process did, for all destinations in one transaction, and shortens the
    /// log.
    /// @param now  Milliseconds since 1970.
    [[nodiscard]] Status apply(const std::vector<DestinationStep>& steps, std::uint64_t now);

private:
    struct Tables;
    explicit DestinationStore(std::unique_ptr<Tables> tables);

    std::unique_ptr<Tables> tables_;
};

}  // namespace sluice::store
