#include "ngx_module/request/record.hpp"

#include "ngx_module/request/settle.hpp"

namespace sluice::ngx {
namespace {

void on_committed(CommitJob& job) noexcept {
    auto& request = *static_cast<IngestRequest*>(job.owner);
    request.committed = true;
    if (job.item.outcome == store::AppendOutcome::kReplayed) {
        request.records_count = job.item.records_count;
    }
    wake(request);
}

}  // namespace

Step commit(IngestRequest& request) {
    CommitJob& job = request.job;
    if (job.bulk) {
        request.tools->offload.release_memory(request.offload_job);
    }
    job.item.prefix = request.envelope.prefix();
    job.item.body = job.bulk ? std::string_view() : request.body.view();
    job.owner = &request;
    job.completed = on_committed;
    if (request.tools->commits.join(job)) {
        return park_until(request, Step::kCommitted);
    }
    settle_unavailable(request, Reason::kStoreUnavailable);
    return Step::kAnswer;
}

Step committed(IngestRequest& request) {
    settle_commit(request);
    return answer_or_leave(request);
}

}  // namespace sluice::ngx
