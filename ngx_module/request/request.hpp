// IngestRequest: what the module knows about one request, from its head to its answer.
//
// Lifetime: RequestPool constructs it when a request of nginx enters the module, and destroys it
// with the memory pool of that request. Nothing in it outlives the request of nginx, except the
// buffer behind `envelope`.
// Threads: the event loop, with two exceptions. Between Offload::start() and its completion the
// offload thread owns the request; while that thread takes a piece of a body it uses only `stream`
// without its pieces, and the event loop continues to read. While a commit reads `envelope` and
// `body`, no thread writes them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "core/intake/intake.hpp"
#include "lmdb_store/queue/queue.hpp"
#include "ngx_module/commit/group_commit.hpp"
#include "ngx_module/conf/conf.hpp"
#include "ngx_module/nginx/ngx_api.hpp"
#include "ngx_module/offload/offload.hpp"
#include "ngx_module/request/body.hpp"
#include "ngx_module/request/tools.hpp"

namespace sluice::ngx {

/// The next step of a request. Each stage returns one, and handler.cpp performs them in turn.
enum class Step : std::uint8_t {
    kOpen,         ///< Check how the request arrived, read its head, look up the sender.
    kReadBody,     ///< Let nginx read the body.
    kBodyRead,     ///< nginx has read the whole body.
    kBeginPieces,  ///< nginx has read the first bytes of a body that comes in pieces.
    kReadPieces,   ///< The socket may have more of that body.
    kPieceTaken,   ///< The offload thread has hashed and written a piece.
    kBreakOff,     ///< The body will never be complete; `ending` says why.
    kDropPieces,   ///< Settled: remove what was written of the body, then answer.
    kLookUpAgain,  ///< The registry may have changed since the head was read.
    kCheck,        ///< The body is complete: check the request here or on a thread.
    kOffload,      ///< Check the request on a thread.
    kOffloaded,    ///< The thread has checked the request.
    kCommit,       ///< Hand the record to the commit.
    kCommitted,    ///< The store has reported the outcome.
    kFailed,       ///< A stage threw an exception.
    kAnswer,       ///< Settled: send the answer.
    kAnswerEarly,  ///< Settled before the body was read: discard the body and answer.
    kBodyComing,   ///< Stop: nginx reports when more of the body has arrived.
    kBodyHeld,     ///< Stop: as kBodyComing, but a thread has a piece; wake() continues.
    kParked,       ///< Stop: wake() continues.
    kEnd,          ///< Stop: nginx finalizes the request with `ending`.
};

struct IngestRequest {
    IngestRequest(ngx_http_request_t* request, const LocConf* location, RequestTools& shared,
                  RecordEnvelope& reused) noexcept
        : r(request), tools(shared), conf(location), envelope(reused) {}
    IngestRequest(const IngestRequest&) = delete;
    IngestRequest& operator=(const IngestRequest&) = delete;
    ~IngestRequest() {
        tools.offload.release_memory(offload_job);
        if (job.bulk) {  // no record names the file
            tools.offload.discard(std::move(*job.bulk));
        }
    }

    ngx_http_request_t* const r;
    RequestTools& tools;
    const LocConf* conf;        ///< Changes if an error page leads to another ingest location.
    Step resume = Step::kEnd;   ///< The step with which wake() continues.
    ngx_int_t ending = NGX_OK;  ///< The result for nginx at Step::kEnd.

    RequestHead head;
    Sender sender;
    std::string_view request_id;

    RequestBody body;
    BodyDeadline deadline;
    std::unique_ptr<BodyStream> stream;  ///< Set if the body comes in pieces.
    std::string_view given_piece;        ///< The piece that the offload thread has.

    // Set by the check.
    std::optional<RateVerdict> rate;
    AccountCell* cell = nullptr;            ///< The authenticated account's counters.
    bool authenticated = false;             ///< The sender is proven; logs may name its account.
    std::uint64_t token = 0;                ///< token_number() of the token that proved it.
    RecordEnvelope& envelope;               ///< Encoded for each record; the pool keeps its buffer.
    std::optional<std::string> translated;  ///< Webhooks, clicks: stored in place of the body.
    SourceNotes notes{};                    ///< Webhooks: of the translation.
    Outcome stored_as = Outcome::kAccepted;  ///< The outcome, once the record is stored.
    CommitJob job;                           ///< The record to store, and its outcome.
    std::uint32_t records_count = 0;

    std::optional<Answer> answer;  ///< Set once the request is settled.
    bool committed = false;        ///< The store set job.item.outcome.
    bool counted = false;          ///< The metrics contain this request.
    bool refused_before = false;   ///< nginx or another module refused it before the handler ran.
    bool guarded = false;          ///< The client must receive exactly `answer`; see filters.cpp.
    bool body_sent = false;        ///< The guarded answer's body was sent.
    std::string_view diagnosis;    ///< Static text; empty until worked out, or if inconclusive.

    StoreWaiter store_waiter;
    KeyWaiter key_waiter;
    OffloadJob offload_job;
    store::Queue* queue = nullptr;  ///< The open queue while the thread runs; nullptr if closed.

    [[nodiscard]] bool is_events() const noexcept { return conf->ingest == kIngestEvents; }
    [[nodiscard]] bool is_catalog() const noexcept { return conf->ingest == kIngestCatalog; }
    [[nodiscard]] bool is_clicks() const noexcept { return conf->ingest == kIngestClicks; }
    /// Returns the scope of the tokens that sign events or clicks; nothing for other requests.
    [[nodiscard]] std::optional<Scope> signing_scope() const noexcept {
        return is_events()   ? std::optional(kWriteOrders)
               : is_clicks() ? std::optional(kWriteClicks)
                             : std::nullopt;
    }
    /// Returns the platform of a webhook, or kNone.
    [[nodiscard]] Platform platform() const noexcept { return platform_of(conf->ingest); }
    [[nodiscard]] Endpoint endpoint() const noexcept {
        switch (conf->ingest) {
            case kIngestCatalog:
                return Endpoint::kCatalog;
            case kIngestShopify:
                return Endpoint::kShopify;
            case kIngestWooCommerce:
                return Endpoint::kWooCommerce;
            case kIngestClicks:
                return Endpoint::kClicks;
            default:
                return Endpoint::kEvents;
        }
    }
    /// Returns the bytes that the record contains or names.
    [[nodiscard]] std::string_view stored_body() const noexcept {
        return translated ? std::string_view(*translated) : body.view();
    }
};

/// Returns nullptr if the module has not seen this request, or if a redirect took the request to
/// another module.
[[nodiscard]] inline IngestRequest* request_of(const ngx_http_request_t* r) noexcept {
    return static_cast<IngestRequest*>(ngx_http_get_module_ctx(r, ngx_http_sluice_module));
}

}  // namespace sluice::ngx
