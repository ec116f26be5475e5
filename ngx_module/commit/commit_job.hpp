// CommitJob: something to be stored, as a request hands it over.
#pragma once

#include <optional>

#include "core/commit/lane_route.hpp"
#include "core/commit/waiting_list.hpp"
#include "core/protocol/receipt.hpp"
#include "lmdb_store/queue/bulk_file.hpp"
#include "lmdb_store/queue/queue.hpp"
#include "ngx_module/nginx/event_loop.hpp"

namespace sluice::ngx {

/// Its owner keeps it, and what `item` views, where it is from join() until `completed` is called.
struct CommitJob : Waiter {
    store::AppendItem item;               ///< In: what is stored. Out: the outcome.
    std::optional<store::BulkFile> bulk;  ///< In: the file that the record names, if any.
    std::optional<Receipt> receipt;  ///< Out: if it is stored, in a lane; else item.seq is set.
    ngx_msec_t commit_ms = 0;        ///< Out: from join() to the outcome.
    LaneRoute* route = nullptr;      ///< That counts it among those who wait.
    void* owner = nullptr;
    /// Called on the event loop, never inside join(). The job may be gone afterwards.
    void (*completed)(CommitJob& job) noexcept = nullptr;
};

/// Calls visit(job) for each; a job may be gone after its turn.
template <class Visit>
void for_each_job(WaiterChain chain, Visit&& visit) noexcept {
    for (Waiter* waiter = chain.first; waiter != nullptr;) {
        Waiter* const next = waiter->next;
        visit(static_cast<CommitJob&>(*waiter));
        waiter = next;
    }
}

inline void complete_job(CommitJob& job) noexcept {
    job.commit_ms = loop_ms() - job.joined_ms;
    if (job.route != nullptr) {
        job.route->done(job.bytes);
    }
    job.completed(job);
}

}  // namespace sluice::ngx
