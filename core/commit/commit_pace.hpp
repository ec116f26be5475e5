// CommitPace: when the next commit begins. Pure; times in microseconds.
//
// Clients wait for their answers before they send more, so while a commit runs only those arrive
// that it does not hold. Beginning the next one at once lets disk and event loop work at the same
// time, but the clients split into two halves that wait for each other. Where a commit takes longer
// than the event loop needs for all of them, it is better to answer first and to hold the next
// commit back for a moment, until those who were just answered are there again. Clients who send
// without waiting for answers do not come sooner for it: where holding back gathers nobody, it
// ends, and is tried again now and then. Nobody is held back who arrives while the worker is idle.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace sluice {

class CommitPace {
public:
    /// The part of a commit's time for which the next one is held back at most.
    static constexpr std::uint64_t kHoldPart = 4;
    /// Reading and checking a request takes about twice as long as writing its answer.
    static constexpr std::uint64_t kGatherFactor = 3;
    /// Holding back ends when it gathered nothing so many times in a row,
    static constexpr unsigned kTrust = 8;
    /// and is tried again after as many commits.
    static constexpr unsigned kTryEvery = 64;

    /// A commit took `us`; its requests and those that have arrived meanwhile are `parked`. One
    /// that was slow, because another program wrote to the disk, says little about the next.
    void committed(std::uint64_t us, std::size_t parked) noexcept {
        const std::uint64_t counted = us < 2 * commit_us_ ? us : 2 * commit_us_;
        commit_us_ = commit_us_ == 0 ? us : (commit_us_ * 7 + counted) / 8;
        count_ = parked;
        ++untried_;
    }
    /// Writing `requests` answers took until `now_us`. Requires: requests > 0.
    void answered(std::uint64_t us, std::size_t requests, std::uint64_t now_us) noexcept {
        const std::uint64_t nanoseconds = us * 1000 / requests;
        answer_ns_ = answer_ns_ == 0 ? nanoseconds : (answer_ns_ * 7 + nanoseconds) / 8;
        hold_until_us_ = now_us + commit_us_ / kHoldPart;
    }

    /// Does the next commit begin before the answers of the last one are written?
    [[nodiscard]] bool overlaps() const noexcept {
        return !gathers() || commit_us_ * 1000 <= answer_ns_ * kGatherFactor * count_;
    }
    /// Is it worth to wait for more than the `waiting` ones? If so, began() must follow.
    [[nodiscard]] bool holds_back(std::size_t waiting, std::uint64_t now_us) noexcept {
        if (!gathers() || waiting >= count_ || now_us >= hold_until_us_) {
            return false;
        }
        held_from_ = std::min(held_from_, waiting);
        return true;
    }
    /// A commit begins with those `waiting`. Was it worth to hold it back?
    void began(std::size_t waiting) noexcept {
        if (held_from_ == kNotHeld) {
            return;
        }
        const std::size_t missing = count_ - std::min(count_, held_from_);
        const std::size_t came = waiting - std::min(waiting, held_from_);
        held_from_ = kNotHeld;
        untried_ = 0;
        trust_ = 2 * came >= missing ? kTrust : trust_ - (trust_ > 0 ? 1 : 0);
    }

private:
    static constexpr std::size_t kNotHeld = ~std::size_t{0};

    /// May the next commit be held back?
    [[nodiscard]] bool gathers() const noexcept { return trust_ > 0 || untried_ >= kTryEvery; }

    std::uint64_t commit_us_ = 0;  ///< Averaged; without the outliers.
    std::size_t count_ = 0;        ///< Clients that sent lately: as many may send again.
    std::uint64_t answer_ns_ = 0;  ///< Of one answer, averaged.
    std::uint64_t hold_until_us_ = 0;
    unsigned trust_ = kTrust;
    unsigned untried_ = 0;              ///< Commits since one was held back.
    std::size_t held_from_ = kNotHeld;  ///< As many waited when the next one was held back first.
};

}  // namespace sluice
