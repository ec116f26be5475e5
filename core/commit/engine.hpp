// CommitEngine: who is stored with whom, and when. A state machine: events come in, actions go out.
//
// It knows no nginx, thread, file or clock: its driver tells it what happened and when, and does
// what it asks for. One commit works at a time. Requests that arrive meanwhile form the next
// batch: there is no timer, and when nothing is under way a lone request is committed at the end of
// the event loop's turn, together with all that were read in that turn. CommitPace says whether the
// next commit is announced while one works, so that the disk does not wait for the event loop, or
// is held back. A commit takes the requests that wait when it has the disk, not those that waited
// when the loop last looked.
//
// A batch's way: free -> announced (kStart) -> taken -> committed -> answered -> free.
// Threads: none of its own; calls must not overlap.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/commit/action_list.hpp"
#include "core/commit/commit_pace.hpp"
#include "core/commit/waiting_list.hpp"

namespace sluice {

class CommitEngine {
public:
    static constexpr std::size_t kBatchRequestsMax = 1024;
    static constexpr std::uint64_t kBatchBytesMax = 32U << 20;
    /// A request does not wait longer than this for its turn; nor is one accepted behind a commit
    /// that takes longer. Merchants' systems give up after about 5 s.
    static constexpr std::uint64_t kWaitMaxMs = 3000;
    /// One is answered, one works, one is announced.
    static constexpr std::size_t kBatches = 3;

    enum class Do : std::uint8_t {
        kLookAtTurnEnd,  ///< Call turn_ended() when this turn of the event loop ends.
        kLookNextTurn,   ///< The same, one turn later; let others have the processor first.
        kStart,          ///< Give `batch` to the commit's thread, which calls take(); else
                         ///< not_started().
        kSetTimer,       ///< Call overdue() in `after_ms`. At most one is set.
        kClearTimer,
    };
    struct Action {
        Do what = Do::kLookAtTurnEnd;
        std::size_t batch = 0;
        std::uint64_t after_ms = 0;
    };
    /// What one event asks for: each kind at most once, and a second timer.
    using Actions = ActionList<Action, 6>;
    /// The two clocks of an event loop: the one that it reads once a turn, for how long requests
    /// wait, and the one that is read now, for the pace. Neither ever goes back.
    struct Now {
        std::uint64_t ms = 0;
        std::uint64_t us = 0;
    };

    /// A request wants to be stored. False: a commit hangs, and it is not taken in. It must stay
    /// where it is until a chain hands it back. Requires: waiter.joined_ms is now.
    [[nodiscard]] bool arrived(Waiter& waiter, Actions& actions) noexcept;
    /// The turn of the event loop ended, as was asked for.
    /// @param quitting  The process ends when nobody waits any more: nobody is held back.
    void turn_ended(Now now, bool quitting, Actions& actions) noexcept;

    /// The commit's thread has the disk: these are its requests. None: all gave up waiting.
    [[nodiscard]] WaiterChain take(std::size_t batch) noexcept;
    /// The announced batch could not be given to the thread: these cannot be stored now. Tell them,
    /// then call answered_unstored().
    [[nodiscard]] WaiterChain not_started(std::size_t batch) noexcept;
    void answered_unstored(std::size_t batch, Actions& actions) noexcept;

    /// The batch's outcome is known; it took `commit_us`. Do what is asked for, then answer its
    /// requests and call answered().
    void committed(std::size_t batch, std::uint64_t commit_us, Now now, Actions& actions) noexcept;
    /// All requests of the batch were answered, which took `answer_us`; the batch is free again.
    void answered(std::size_t batch, std::uint64_t answer_us, Now now, bool quitting,
                  Actions& actions) noexcept;

    /// Those who waited too long for their turn. They were given to nobody: "not stored" is
    /// certain. Requires: the timer fired.
    [[nodiscard]] WaiterChain overdue(std::uint64_t now_ms, Actions& actions) noexcept;

    /// A thread has a batch, or will have one.
    [[nodiscard]] bool in_flight() const noexcept { return in_flight_ > 0; }
    [[nodiscard]] std::size_t waiting() const noexcept { return waiting_.count(); }

private:
    struct Batch {
        std::size_t requests = 0;
        bool in_use = false;
    };

    void go_on(std::uint64_t now_ms, Actions& actions) noexcept;
    void begin_if_time(Now now, bool quitting, Actions& actions) noexcept;
    void announce(std::uint64_t now_ms, Actions& actions) noexcept;
    void set_timer(std::uint64_t now_ms, Actions& actions) noexcept;
    [[nodiscard]] WaiterChain take_waiting(std::size_t batch) noexcept;

    std::array<Batch, kBatches> batches_{};
    WaitingList waiting_;
    CommitPace pace_;
    std::size_t in_flight_ = 0;
    std::size_t parked_ = 0;        ///< Have arrived and were not answered.
    std::uint64_t started_ms_ = 0;  ///< When the oldest commit in flight began, or could have.
    bool announced_ = false;        ///< A commit will take who waits.
    bool timer_set_ = false;
};

}  // namespace sluice
