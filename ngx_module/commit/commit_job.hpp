// CommitJob: a record to store, as a request hands it over.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "core/commit/lane_route.hpp"
#include "core/commit/waiting_list.hpp"
#include "core/protocol/receipt.hpp"
#include "lmdb_store/queue/bulk_file.hpp"
#include "lmdb_store/queue/queue.hpp"
#include "ngx_module/nginx/event_loop.hpp"

namespace sluice::ngx {

/// The owner keeps the job, and the bytes that `item` views, in place from join() until
/// `completed`.
struct CommitJob : Waiter {
    store::AppendItem item;               ///< In: the record. Out: the outcome.
    std::optional<store::BulkFile> bulk;  ///< In: the file that the record names, if any.
    std::optional<Receipt> receipt;       ///< Out: if stored in a lane; otherwise item.seq is set.
    std::uint64_t joined_wall_ms = 0;
    std::uint64_t commit_ms = 0;  ///< Out: from join() to the outcome, by the clock of nginx's log.
    LaneRoute* route = nullptr;   ///< Counts the job as waiting, if set.
    void* owner = nullptr;
    /// Called on the event loop, never inside join(). The job may be gone afterwards.
    void (*completed)(CommitJob& job) noexcept = nullptr;
};

/// Calls visit(job) for each job, which may be gone afterwards.
template <class Visit>
void for_each_job(WaiterChain chain, Visit&& visit) noexcept {
    for (Waiter* waiter = chain.first; waiter != nullptr;) {
        Waiter* const next = waiter->next;
        visit(static_cast<CommitJob&>(*waiter));
        waiter = next;
    }
}

inline void complete_job(CommitJob& job) noexcept {
    job.commit_ms = std::max(loop_wall_ms(), job.joined_wall_ms) - job.joined_wall_ms;
    if (job.route != nullptr) {
        job.route->done(job.bytes);
    }
    job.completed(job);
}

/// Completes jobs that no batch took.
inline void complete_unavailable(WaiterChain chain) noexcept {
    for_each_job(chain, [](CommitJob& job) {
        job.item.outcome = store::AppendOutcome::kUnavailable;
        complete_job(job);
    });
}

}  // namespace sluice::ngx
