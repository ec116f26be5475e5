// CommitPace: decides when the next commit begins. Pure; times in microseconds.
//
// Clients wait for their answers before they send more. During a commit, new requests come only
// from clients outside it. If the next commit begins at once, disk and event loop work at the same
// time, but the clients split into two halves that wait for each other. If a commit takes longer
// than the event loop needs for all clients, it is better to answer first and to delay the next
// commit for a moment, until the answered clients have sent again. A commit delay that gathers no
// further requests ends, because clients that do not wait for answers come no sooner for it; it is
// tried again from time to time. A request that arrives while the process is idle is not delayed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace sluice {

class CommitPace {
public:
    /// A commit is delayed for at most a kDelayPart-th of the average commit time.
    static constexpr std::uint64_t kDelayPart = 4;
    /// Writing an answer, and reading and checking the next request, take about 3 times as long as
    /// writing the answer.
    static constexpr std::uint64_t kGatherFactor = 3;
    /// After this many delays in a row for which fewer than half of the missing clients came,
    /// commits are not delayed.
    static constexpr unsigned kTrust = 8;
    /// Commits after which a delay is tried again.
    static constexpr unsigned kTryEvery = 64;

    /// Records a commit that took `us`. An outlier counts as twice the average, because another
    /// program's writes say little about the next commit.
    /// @param parked  Requests of the commit, and those that arrived during it.
    void committed(std::uint64_t us, std::size_t parked) noexcept {
        const std::uint64_t counted = us < 2 * commit_us_ ? us : 2 * commit_us_;
        commit_us_ = commit_us_ == 0 ? us : (commit_us_ * 7 + counted) / 8;
        count_ = parked;
        ++untried_;
    }
    /// Records that writing `requests` answers took `us`, until `now_us`. Requires: requests > 0.
    void answered(std::uint64_t us, std::size_t requests, std::uint64_t now_us) noexcept {
        const std::uint64_t nanoseconds = us * 1000 / requests;
        answer_ns_ = answer_ns_ == 0 ? nanoseconds : (answer_ns_ * 7 + nanoseconds) / 8;
        delay_until_us_ = now_us + commit_us_ / kDelayPart;
    }

    /// Returns true if the next commit begins before the answers of the last one are written.
    [[nodiscard]] bool overlaps() const noexcept {
        return !gathers() || commit_us_ * 1000 <= answer_ns_ * kGatherFactor * count_;
    }
    /// Returns true if the commit should wait for more than the `waiting` requests. began() must
    /// follow in that case.
    [[nodiscard]] bool delays(std::size_t waiting, std::uint64_t now_us) noexcept {
        if (!gathers() || waiting >= count_ || now_us >= delay_until_us_) {
            return false;
        }
        delayed_from_ = std::min(delayed_from_, waiting);
        return true;
    }
    /// Records that a commit begins with `waiting` requests, and judges the delay before it.
    void began(std::size_t waiting) noexcept {
        if (delayed_from_ == kNotDelayed) {
            return;
        }
        const std::size_t missing = count_ - std::min(count_, delayed_from_);
        const std::size_t came = waiting - std::min(waiting, delayed_from_);
        delayed_from_ = kNotDelayed;
        untried_ = 0;
        trust_ = 2 * came >= missing ? kTrust : trust_ - (trust_ > 0 ? 1 : 0);
    }

private:
    static constexpr std::size_t kNotDelayed = ~std::size_t{0};

    /// Returns true if the next commit may be delayed.
    [[nodiscard]] bool gathers() const noexcept { return trust_ > 0 || untried_ >= kTryEvery; }

    std::uint64_t commit_us_ = 0;  ///< Average time. An outlier counts as twice the average.
    std::size_t count_ = 0;        ///< Clients that sent lately; as many may send again.
    std::uint64_t answer_ns_ = 0;  ///< Average time to write one answer.
    std::uint64_t delay_until_us_ = 0;
    unsigned trust_ = kTrust;
    unsigned untried_ = 0;                    ///< Commits since the last delay.
    std::size_t delayed_from_ = kNotDelayed;  ///< Requests that waited when the delay began.
};

}  // namespace sluice
