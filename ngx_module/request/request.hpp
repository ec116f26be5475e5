// IngestRequest: what the module knows of one request, from its head to its answer.
//
// Owner: the RequestPool keeps and reuses them; a request of nginx holds one from the content
// handler until its memory pool is destroyed. Threads: the event loop, except between
// Offload::start() and its completion (the offload thread; of a body in pieces it has `stream` but
// for its pieces, and reading goes on beside) and while a commit reads `envelope` and `body`
// (nobody writes then).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "core/intake/intake.hpp"
#include "lmdb_store/queue/queue.hpp"
#include "ngx_module/commit/group_commit.hpp"
#include "ngx_module/conf/conf.hpp"
#include "ngx_module/nginx/event_ident.hpp"
#include "ngx_module/nginx/ngx_api.hpp"
#include "ngx_module/offload/offload.hpp"
#include "ngx_module/request/body.hpp"
#include "ngx_module/request/body_stream.hpp"
#include "ngx_module/request/tools.hpp"

namespace sluice::ngx {

/// What happens to a request next. Each stage returns it, and handler.cpp walks from one to the
/// next.
enum class Step : std::uint8_t {
    kArrive,       ///< Is it there as the client sent it?
    kOpen,         ///< Look at the head: who claims to send it?
    kReadBody,     ///< Have nginx read the body.
    kPieces,       ///< More of a body that comes in pieces is there, or may be.
    kPieceTaken,   ///< The thread has hashed and written a piece.
    kBodyBroken,   ///< It will never be whole; `ending` says why.
    kRenewed,      ///< The master key was looked for again: look the sender up again.
    kCheck,        ///< The body is there: check it here, or say that it is offloaded.
    kOffload,      ///< Check it on a thread.
    kOffloaded,    ///< The thread has checked it.
    kCommit,       ///< Give the record to the commit.
    kCommitted,    ///< The store has spoken.
    kAnswer,       ///< It is settled: send the answer.
    kAnswerEarly,  ///< The same, before the body was read.
    kBodyComing,   ///< Nothing now: nginx goes on with it when more of the body is there.
    kBodyHeld,     ///< The same, while a thread has a piece of it: wake() goes on at `resume`.
    kParked,       ///< Nothing now: wake() goes on with it at `resume`.
    kEnd,          ///< nginx finalizes it with `ending`.
};

class RequestPool;

struct IngestRequest {
    ngx_http_request_t* r = nullptr;
    RequestPool* pool = nullptr;  ///< That it belongs to.
    RequestTools* tools = nullptr;
    const LocConf* conf = nullptr;
    Step resume = Step::kEnd;               ///< While it is parked: the step after the wait.
    ngx_int_t ending = NGX_OK;              ///< At Step::kEnd.
    IngestRequest* next_free = nullptr;     ///< In the pool's free list.
    ngx_pool_cleanup_t* cleanup = nullptr;  ///< Gives it back to the pool.

    RequestHead head;
    Sender sender;
    RequestBody body;
    std::unique_ptr<BodyStream> stream;  ///< Its body comes in pieces.
    std::string_view given_piece;        ///< That the pool has.
    std::string_view request_id;

    // Written by check_request().
    std::optional<RateVerdict> rate;
    AccountCell* cell = nullptr;  ///< Of the authenticated account.
    Topic topic = Topic::kOrderCreate;
    RecordEnvelope envelope;
    CommitJob job;  ///< What is stored, and its outcome; owner: the request.
    std::uint32_t records_count = 0;

    std::optional<Answer> answer;  ///< Set: the request is settled.
    bool counted = false;
    bool authenticated = false;  ///< The sender is who it says: its account may be named in a log.
    bool guarded = false;        ///< What is sent is `answer`, exactly; see answer_filter.hpp.
    bool body_sent = false;      ///< Its body, if guarded.
    bool committed = false;      ///< job.item.outcome is what the store said.
    std::string_view diagnosis;  ///< Static text; empty: not worked out, or nothing found.

    EventIdent body_ident;     ///< Of body_timer; owner: the request.
    ngx_event_t body_timer{};  ///< See body_deadline.hpp.
    ngx_msec_t body_ms_left = 0;
    void (*body_overdue)(IngestRequest&) noexcept = nullptr;

    // Offload.
    KeyWaiter key_waiter;           ///< owner: the request.
    OffloadJob offload_job;         ///< owner: the request.
    store::Queue* queue = nullptr;  ///< Open while the job runs; nullptr: the store is not open.

    [[nodiscard]] bool is_events() const noexcept { return conf->ingest == kIngestEvents; }
    /// Ready for another request; keeps its buffers.
    void reset() noexcept;
};

/// nullptr: the module has not seen this request, or a redirect took it elsewhere.
[[nodiscard]] IngestRequest* request_of(const ngx_http_request_t* r) noexcept;

/// Ends the request with `code`, for ngx_http_finalize_request().
[[nodiscard]] inline Step end_with(IngestRequest& request, ngx_int_t code) noexcept {
    request.ending = code;
    return Step::kEnd;
}

/// Nothing now; wake() goes on at `resume`.
[[nodiscard]] inline Step park_until(IngestRequest& request, Step resume) noexcept {
    request.resume = resume;
    return Step::kParked;
}
/// After Step::kParked: lets the request go on, or end if it was terminated meanwhile. The request
/// may be gone afterwards. Event loop.
void wake(IngestRequest& request) noexcept;

}  // namespace sluice::ngx
