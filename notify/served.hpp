// A destination as the sending process serves it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lmdb_store/destinations/destination_store.hpp"
#include "notify/feed_reader.hpp"
#include "notify/ip_address.hpp"
#include "notify/outbox.hpp"
#include "program/system/http_client.hpp"

namespace sluice::notify {

[[nodiscard]] bool is_success(const cli::HttpResponse& answer) noexcept;  ///< 2xx
/// Returns the judge of a destination's addresses.
[[nodiscard]] AddressJudge judge_of(const store::Destination& destination);
/// Returns what an answer other than 2xx says, for people.
[[nodiscard]] std::string error_text(const cli::HttpResponse& answer);

/// One destination in the sender: its cursor, the changes that wait, and the outcomes that are not
/// stored yet. Not thread-safe.
class Served {
public:
    Served(store::StoredDestination row, const std::vector<store::PendingChange>& pending,
           std::vector<store::Replay> replays);

    /// Takes over what commands have changed since.
    void refresh(store::StoredDestination row, std::vector<store::Replay> replays);

    [[nodiscard]] const store::Destination& destination() const noexcept {
        return row_.destination;
    }
    [[nodiscard]] const AddressJudge& judge() const noexcept { return judge_; }
    [[nodiscard]] bool is_sending() const noexcept {
        return !row_.destination.is_paused && row_.progress.disabled_at == 0;
    }

    /// Returns an order of the feed if there is something to read.
    /// @param entries  Number of entries in all chains of the account.
    [[nodiscard]] std::optional<FeedOrder> next_read(std::uint64_t entries, std::uint64_t now);
    /// Takes over what an order read. Returns a sentence for people if that disables the
    /// destination, else an empty text.
    [[nodiscard]] std::string took(FeedBatch batch, std::uint64_t now);

    /// Returns a change whose request may start now. Its notice is in notice_of(), or else an order
    /// of body_order() brings it.
    [[nodiscard]] std::optional<store::PendingChange> take(std::uint64_t now);
    [[nodiscard]] const Notice* notice_of(const store::ChangeId& change) const;
    [[nodiscard]] FeedOrder body_order(const store::ChangeId& change) const;
    /// Returns a change whose request cannot start.
    void put_back(const store::ChangeId& change) { outbox_.put_back(change); }
    /// Removes a change that the ledger does not have, with an attempt in the log.
    void drop(const store::PendingChange& change, std::uint64_t now);
    [[nodiscard]] std::optional<std::uint64_t> next_at(std::uint64_t now) const {
        return is_sending() ? outbox_.next_at(now) : std::nullopt;
    }
    /// Notes the end of a request. Returns a sentence for the log of the service if the state of
    /// the destination changed, or an empty text.
    [[nodiscard]] std::string ended(const Notice& notice, std::uint32_t number,
                                    const cli::HttpResponse& answer, std::uint64_t now,
                                    unsigned jitter);

    enum class Unstored : std::uint8_t { kNothing, kPlace, kOutcome };
    [[nodiscard]] Unstored unstored() const noexcept { return unstored_; }
    /// Marks the time of the last read of the ledger as unstored.
    void note_read(std::uint64_t entries, std::uint64_t now);
    /// Returns everything that is not stored yet, and counts it as stored.
    [[nodiscard]] store::DestinationStep take_step();

private:
    void set_unstored(Unstored what) noexcept { unstored_ = std::max(unstored_, what); }
    void start_fresh();
    void took_replay(const FeedBatch& batch);
    void add(Notice notice);
    /// Returns an order of this destination that asks for nothing yet.
    [[nodiscard]] FeedOrder new_order() const;
    [[nodiscard]] std::optional<FeedOrder> next_replay() const;
    /// Returns whether the last read failed a moment ago.
    [[nodiscard]] bool rests(std::uint64_t now) const noexcept;

    store::StoredDestination row_;
    Outbox outbox_;
    AddressJudge judge_;
    std::map<store::ChangeId, Notice> notices_;  ///< Bodies of untried changes.
    std::vector<store::Replay> replays_;
    std::vector<std::uint64_t> ended_replays_;
    std::vector<store::Attempt> attempts_;
    bool is_reading_ = false;
    std::uint64_t failed_at_ = 0;  ///< Time of the last read that failed, or 0.
    std::uint64_t stuck_at_entries_ = 0;
    Unstored unstored_ = Unstored::kNothing;
    bool replay_moved_ = false;
};

}  // namespace sluice::notify
