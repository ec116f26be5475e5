// CommitEngine: decides which requests a commit of the queue stores together, and when it begins.
//
// One commit runs at a time. Requests that arrive during it form the next batch. While no commit
// runs, a request is committed at the end of the event loop's iteration, with all requests of that
// iteration; no timer delays it. CommitPace decides whether the next commit is announced while one
// runs, so that the disk need not wait for the event loop, or is delayed. A commit takes its
// requests when it gets the disk, so requests that arrive after the announcement join it.
//
// States of a batch: free -> announced (kStart) -> taken -> committed -> answered -> free.
// Threads: any, one call at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/commit/batching_engine.hpp"
#include "core/commit/commit_pace.hpp"

namespace sluice {

/// The actions of CommitEngine, which its caller performs.
enum class CommitVerb : std::uint8_t {
    kRunAtIterationEnd,  ///< Call iteration_ended() when this iteration of the event loop ends.
    kRunNextIteration,   ///< Call it one iteration later; yield the processor first.
    kStart,              ///< Give `batch` to the commit thread, which calls take(). If that fails,
                         ///< call not_started().
    kSetWaitTimer,       ///< Call overdue() in `value` milliseconds. At most one timer is set.
    kClearWaitTimer,
};

/// One event asks for each verb at most once, and for a second timer.
class CommitEngine : public BatchingEngine<CommitVerb, 6> {
public:
    static constexpr std::uint64_t kBatchBytesMax = 32U << 20;
    /// One batch is being answered, one is being committed, one is announced.
    static constexpr std::size_t kBatches = 3;

    /// The event loop's cached milliseconds, for timeouts, and current microseconds, for the pace.
    /// Both are monotonic.
    struct Now {
        std::uint64_t ms = 0;
        std::uint64_t us = 0;
    };

    /// Queues a request for the next commit. Returns false if a commit hangs. The waiter must stay
    /// at its address until a chain returns it. Requires: waiter.joined_ms is now.
    [[nodiscard]] bool arrived(Waiter& waiter, Actions& actions) noexcept;
    /// @param quitting  The process exits after the last answer, so no commit is delayed.
    void iteration_ended(Now now, bool quitting, Actions& actions) noexcept;

    /// Returns the batch's requests. The commit thread calls it when it has the disk. Empty if all
    /// requests timed out.
    [[nodiscard]] WaiterChain take(std::size_t batch) noexcept;
    /// Returns the requests of a batch that the commit thread did not get; none is stored. Answer
    /// them, then call answered_unstored().
    [[nodiscard]] WaiterChain not_started(std::size_t batch) noexcept;
    void answered_unstored(std::size_t batch, Actions& actions) noexcept;

    /// Records the end of a commit that took `commit_us`. Perform the actions, then answer the
    /// batch's requests and call answered().
    void committed(std::size_t batch, std::uint64_t commit_us, Now now, Actions& actions) noexcept;
    /// Frees a batch whose answers took `answer_us` to write.
    void answered(std::size_t batch, std::uint64_t answer_us, Now now, bool quitting,
                  Actions& actions) noexcept;

    [[nodiscard]] WaiterChain overdue(std::uint64_t now_ms, Actions& actions) noexcept;

    /// Returns true if a batch is announced or being committed.
    [[nodiscard]] bool in_flight() const noexcept { return in_flight_ > 0; }

private:
    struct Slot {
        std::size_t requests = 0;
        bool in_use = false;
    };

    void schedule(std::uint64_t now_ms, Actions& actions) noexcept;
    void announce(std::uint64_t now_ms, Actions& actions) noexcept;

    std::array<Slot, kBatches> batches_{};
    CommitPace pace_;
    std::size_t in_flight_ = 0;
    std::size_t parked_ = 0;  ///< Requests that arrived and are not answered.
    bool announced_ = false;  ///< A commit will take the waiting requests.
};

}  // namespace sluice
