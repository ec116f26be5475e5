// IngestRequest: what the module knows of one request, from its head to its answer.
//
// Owner: the Edge keeps and reuses them; a request holds one from the content handler until its
// pool is destroyed. Threads: the event loop, except between Offload::start() and its completion
// (the offload thread) and while a commit reads `envelope` and `body` (nobody writes then).
#pragma once

#include <cstdint>
#include <optional>

#include "core/intake/intake.hpp"
#include "lmdb_store/queue/queue.hpp"
#include "ngx_module/commit/group_commit.hpp"
#include "ngx_module/conf/conf.hpp"
#include "ngx_module/nginx/event_ident.hpp"
#include "ngx_module/nginx/ngx_api.hpp"
#include "ngx_module/request/body.hpp"

namespace sluice::ngx {

struct IngestRequest {
    enum class Step : std::uint8_t { kBodyRead, kChecked };

    ngx_http_request_t* r = nullptr;
    const MainConf* main = nullptr;
    const LocConf* conf = nullptr;
    IngestRequest* next = nullptr;  ///< Free list.
    Step step = Step::kBodyRead;    ///< What is done already.

    EventIdent ident;  ///< Of both its events; owner: the request.

    RequestHead head;
    Sender sender;
    RequestBody body;
    std::string_view request_id;

    // Written by check_request().
    std::optional<RateVerdict> rate;
    AccountCell* cell = nullptr;  ///< Of the authenticated account.
    Topic topic = Topic::kOrderCreate;
    RecordEnvelope envelope;
    CommitJob job;  ///< What is stored, and what became of it; owner: the request.
    std::uint32_t records_count = 0;

    std::optional<Answer> answer;  ///< Set: the request is settled.
    bool counted = false;
    bool authenticated = false;  ///< The sender is who it says: its account may be named in a log.
    bool replaces_page = false;  ///< The body that nginx sends is `answer`'s; see late_error.hpp.
    std::string_view diagnosis;  ///< Static text; empty: not worked out, or nothing found.

    ngx_event_t body_timer{};  ///< See body_deadline.hpp.

    // Offload.
    store::Queue* queue = nullptr;  ///< Open while the task runs; nullptr: the store is not open.
    ngx_thread_task_t task{};
    std::uint64_t large_bytes = 0;  ///< What it holds of sluice_large_memory.

    // Commit.
    bool committed = false;  ///< job.item.outcome is what the store said.

    [[nodiscard]] bool is_events() const noexcept { return conf->ingest == kIngestEvents; }
    /// Ready for another request; keeps its buffers.
    void reset() noexcept;
};

/// nullptr: the module has not seen this request, or a redirect took it elsewhere.
[[nodiscard]] IngestRequest* request_of(ngx_http_request_t* r) noexcept;

/// What becomes of the request now: it is checked further, parked, or answered and finalized (then
/// it may be gone afterwards). Event loop.
void go_on(IngestRequest& request) noexcept;

/// Keeps the request alive, whatever the client does, until wake(). Event loop.
void park(IngestRequest& request) noexcept;
/// After a task: lets the request go on, or end if it was terminated meanwhile. The request may be
/// gone afterwards. Event loop.
void wake(IngestRequest& request) noexcept;

}  // namespace sluice::ngx
