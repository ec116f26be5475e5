// Rows of `<store>/notify/`. Plain values; they own their bytes.
//
// Times are milliseconds since 1970 by the wall clock, because they outlive the process.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/lists/changes.hpp"
#include "core/values/ids.hpp"

namespace sluice::store {

/// A receiver of notifications, as commands set it.
struct Destination {
    std::string id;              ///< As is_admin_id().
    std::string uuid;            ///< Tells it from an earlier one of the same id.
    std::uint64_t revision = 1;  ///< Raised by every command.
    AccountId account_id;
    AccountNumber account;
    std::string url;
    std::vector<std::string> types;           ///< Empty means all.
    std::vector<std::string> allowed_blocks;  ///< `--allow-private`
    std::string header;                       ///< Sealed `Name: value`, or empty.
    std::string secret;                       ///< Sealed.
    std::string old_secret;                   ///< Sealed, or empty. Signs until `old_until`.
    std::uint64_t old_until = 0;
    std::uint64_t created_at = 0;
    /// Raised by commands after which every pending change is due at once, and the destination
    /// counts as not failing.
    std::uint64_t fresh_starts = 0;
    /// Set by a fresh start that forgets the pending changes, and continues after this place.
    std::optional<lists::FeedPlace> restart;
    bool is_paused = false;
};

/// A change by its place in the chain of its account and node.
struct ChangeId {
    std::string node;        ///< UUID
    std::uint64_t last = 0;  ///< Number of its last entry.
    friend auto operator<=>(const ChangeId&, const ChangeId&) = default;
};

/// A change at or before the cursor that is not finished.
struct PendingChange {
    ChangeId change;
    ShopNumber shop;
    OrderId order_id;                ///< Empty if no order is concerned.
    std::uint64_t order_change = 0;  ///< Place within the order, or 0.
    std::uint32_t failures = 0;
    std::uint64_t first_failed = 0;  ///< 0 if no try failed.
    std::uint64_t due = 0;           ///< Time of the next try; 0 means at once.

    friend bool operator==(const PendingChange&, const PendingChange&) = default;
};

/// How far a destination was served.
struct DestinationProgress {
    lists::FeedPlace place;           ///< The cursor: the end of what was read.
    std::uint64_t entries = 0;        ///< The account's chains had so many at the last look.
    std::uint64_t looked_at = 0;      ///< Time of that look.
    std::uint64_t last_success = 0;   ///< 0 means never.
    std::uint64_t failing_since = 0;  ///< First failure after the last success, or 0.
    std::string last_error;           ///< Empty after a success.
    std::uint64_t disabled_at = 0;    ///< 0 unless it is disabled.
    std::string disabled_why;         ///< For people.
    /// Destination::fresh_starts when the sender last started afresh.
    std::uint64_t fresh_starts = 0;
    std::uint64_t delivered = 0;  ///< Requests that were answered 2xx.
    std::uint64_t failed = 0;     ///< Requests that were not.
    std::uint64_t expired = 0;    ///< Changes that were given up.
    std::uint64_t pending = 0;    ///< Rows of PendingChange. Not stored.
};

struct StoredDestination {
    Destination destination;
    DestinationProgress progress;
};

/// Returns how many change numbers and pending changes a destination is behind.
[[nodiscard]] inline std::uint64_t lag_of(const DestinationProgress& progress) {
    std::uint64_t read = 0;
    for (const auto& [node, chain] : progress.place) {
        read += chain.change;
    }
    return (progress.entries > read ? progress.entries - read : 0) + progress.pending;
}
/// Returns `active`, `failing`, `paused` or `disabled`.
[[nodiscard]] inline std::string_view state_of(const StoredDestination& row) {
    if (row.destination.is_paused) {
        return "paused";
    }
    if (row.progress.disabled_at != 0) {
        return "disabled";
    }
    return row.progress.failing_since != 0 ? "failing" : "active";
}

/// Makes the sender begin afresh: at `place`, or where it is. A place that an earlier command
/// stated and that the sender has not taken up yet then stays.
inline void begin_afresh(StoredDestination& row, std::optional<lists::FeedPlace> place = {}) {
    const bool is_taken_up = row.progress.fresh_starts == row.destination.fresh_starts;
    if (place || is_taken_up) {
        row.destination.restart = std::move(place);
    }
    ++row.destination.fresh_starts;
}

/// Changes that are to be sent again, by a second cursor that runs up to `until`.
struct Replay {
    std::uint64_t number = 0;       ///< Number of the request: 1, 2, 3 ...
    lists::FeedPlace place, until;  ///< From after `place` up to `until`.
    std::uint64_t since = 0;        ///< Only changes recorded at or after this time.
    std::vector<ChangeId> changes;  ///< These alone, if there are any.
};

enum class AttemptOutcome : std::uint8_t {
    kDelivered = 1,
    kRetry = 2,     ///< Failed, and is tried again.
    kFailed = 3,    ///< Failed for the last time; its order continues.
    kDisabled = 4,  ///< Failed, and the destination was disabled with it.
};
/// Returns whether a stored number is an outcome. FieldReader calls it.
[[nodiscard]] constexpr bool is_valid(AttemptOutcome outcome) noexcept {
    return outcome >= AttemptOutcome::kDelivered && outcome <= AttemptOutcome::kDisabled;
}

/// An attempt in the log.
struct Attempt {
    std::uint64_t at = 0;  ///< Time of its end.
    std::string destination, webhook_id, type;
    ChangeId change;
    std::uint32_t number = 1;  ///< 1 is the first try.
    AttemptOutcome outcome = AttemptOutcome::kDelivered;
    std::uint32_t status = 0;  ///< HTTP, or 0 without an answer.
    std::uint32_t took_ms = 0;
    std::string error;           ///< Empty after a success.
    std::uint64_t next_try = 0;  ///< 0 if there is none.
};

}  // namespace sluice::store
