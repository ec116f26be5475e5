#include <string_view>
#include <utility>

#include "ngx_module/nginx/event_loop.hpp"
#include "ngx_module/nginx/ngx_api.hpp"
#include "ngx_module/nginx/response.hpp"
#include "ngx_module/request/stages.hpp"
#include "ngx_module/store/store_link.hpp"

namespace sluice::ngx {
namespace {

std::uint64_t elapsed_ms(const ngx_http_request_t* r) noexcept {
    const std::int64_t ms = static_cast<std::int64_t>(loop_wall_ms()) - r->start_sec * 1000 -
                            static_cast<std::int64_t>(r->start_msec);
    return ms > 0 ? static_cast<std::uint64_t>(ms) : 0;
}

/// Returns true if nginx closed the connection because the body came too slowly.
bool is_timed_out(const IngestRequest& request) noexcept {
    return !request.answer && request.r->headers_out.status == NGX_HTTP_REQUEST_TIME_OUT;
}

/// Reports in the log when admission stops and when it resumes.
void note_admission(IngestRequest& request, Outcome outcome, Reason reason) noexcept {
    store::Queue* queue = request.tools.store.queue();
    if (queue == nullptr) {
        return;  // StoreLink reports why the store is closed
    }
    // Clicks are refused from half of the queue on, while orders are still accepted.
    const bool stopped = (reason == Reason::kQueueFull && !request.is_clicks()) ||
                         reason == Reason::kDiskFull || reason == Reason::kIoError;
    if (outcome == Outcome::kAccepted) {
        request.tools.notes.admission(queue->control().words(), std::nullopt);
    } else if (outcome == Outcome::kUnavailable && stopped) {
        request.tools.notes.admission(queue->control().words(), reason);
    } else if (reason == Reason::kKeysFull) {
        request.tools.notes.keys_full();
    }
}

void on_committed(CommitJob& job) noexcept {
    auto& request = *static_cast<IngestRequest*>(job.owner);
    request.committed = true;
    if (job.item.outcome == store::AppendOutcome::kReplayed) {
        request.records_count = job.item.records_count;
    }
    wake(request, Step::kCommitted);
}

/// Sends the answer. @return the result for ngx_http_finalize_request().
ngx_int_t send(IngestRequest& request) noexcept {
    ngx_http_request_t* r = request.r;
    limit_failures(request);
    const Answer& answer = *request.answer;
    count_once(request);
    if (!add_answer_headers(request)) {
        return NGX_ERROR;
    }
    if (answer.nginx_page) {
        return answer.status;
    }
    request.guarded = true;
    return send_text(r, answer.status, answer.content_type, answer.text());
}

/// Turns the outcome of the store into the answer.
void settle_commit(IngestRequest& request) {
    switch (request.job.item.outcome) {
        case store::AppendOutcome::kStored:
            return settle_success(request, false);
        case store::AppendOutcome::kReplayed:
            return settle_success(request, true);
        case store::AppendOutcome::kConflict:
            return settle(request, catalog_conflict(request.rate));
        case store::AppendOutcome::kFull:
        case store::AppendOutcome::kNoSpace:
        case store::AppendOutcome::kKeysFull:
        case store::AppendOutcome::kInDoubt:
        case store::AppendOutcome::kUnavailable:
            return settle_unavailable(request, reason_of(request.job.item.outcome));
        case store::AppendOutcome::kTooLarge:
            return settle_too_large(request);
        case store::AppendOutcome::kPending:
            break;
    }
    settle_internal_error(request);
}

}  // namespace

void settle(IngestRequest& request, Answer answer) noexcept {
    if (!request.answer) {
        request.answer = std::move(answer);
    }
}

void settle_success(IngestRequest& request, bool replayed) {
    Answer answer = request.is_catalog()
                        ? catalog_success(request.records_count, replayed, request.rate)
                        : event_success(request.rate);
    if (request.stored_as != Outcome::kAccepted) {
        answer.outcome = request.stored_as;
    }
    if (request.conf->dry_run != 0) {
        answer.outcome = Outcome::kDryRun;
    }
    settle(request, std::move(answer));
}

void settle_unavailable(IngestRequest& request, Reason reason) {
    settle(request, failed(request.endpoint(), NGX_HTTP_SERVICE_UNAVAILABLE, reason, request.rate));
}

void settle_too_large(IngestRequest& request) {
    settle(request, failed(request.endpoint(), NGX_HTTP_REQUEST_ENTITY_TOO_LARGE, Reason::kTooLarge,
                           request.rate));
}

void settle_refused(IngestRequest& request, ngx_uint_t status, Reason reason) {
    settle(request, refused_by_nginx(request.endpoint(), static_cast<std::uint16_t>(status), reason,
                                     static_cast<std::uint32_t>(request.conf->retry_after)));
}

void settle_not_servable(IngestRequest& request) {
    request.tools.notes.not_servable(
        request.r, "its body or method is missing, or an error page has set its status");
    settle_unavailable(request, Reason::kNotServable);
}

void settle_store_error(IngestRequest& request, const Error& error, Reason reason) {
    request.tools.notes.store_error(error);
    settle_unavailable(request, reason);
}

void settle_internal_error(IngestRequest& request) noexcept {
    try {
        settle(request, failed(request.endpoint(), NGX_HTTP_INTERNAL_SERVER_ERROR, Reason::kNone,
                               request.rate));
    } catch (...) {
        settle(request, Answer{});  // 500 with an empty body needs no memory
    }
}

Step commit(IngestRequest& request) {
    CommitJob& job = request.job;
    if (job.bulk) {
        request.tools.offload.release_memory(request.offload_job);
    }
    job.item.prefix = request.envelope.prefix();
    job.item.body = job.bulk ? std::string_view() : request.stored_body();
    job.owner = &request;
    job.completed = on_committed;
    if (request.tools.commits.join(job)) {
        return Step::kParked;
    }
    settle_unavailable(request, Reason::kStoreUnavailable);
    return Step::kAnswer;
}

Step committed(IngestRequest& request) {
    settle_commit(request);
    return answer_or_leave(request);
}

Step answer_or_leave(IngestRequest& request) noexcept {
    if (request.r->connection->error) {
        request.ending = NGX_HTTP_CLIENT_CLOSED_REQUEST;
        return Step::kEnd;
    }
    return Step::kAnswer;
}

Step send_answer(IngestRequest& request) noexcept {
    request.ending = send(request);
    return Step::kEnd;
}

Step send_early_answer(IngestRequest& request) noexcept {
    ngx_http_request_t* r = request.r;
    if (r->headers_in.expect != nullptr && r->expect_tested == 0) {
        // After "Expect: 100-continue", the next bytes may be this body or a new request, so the
        // connection closes.
        r->expect_tested = 1;
        r->keepalive = 0;
    }
    request.ending = ngx_http_discard_request_body(r);
    return request.ending == NGX_OK ? send_answer(request) : Step::kEnd;
}

bool add_answer_headers(const IngestRequest& request) noexcept {
    ngx_http_request_t* r = request.r;
    const Answer& answer = *request.answer;
    bool added = true;
    if (answer.rate) {
        added = add_header(r, "X-RateLimit-Limit", answer.rate->limit) &&
                add_header(r, "X-RateLimit-Remaining", answer.rate->remaining) &&
                add_header(r, "X-RateLimit-Reset", answer.rate->reset_second);
    }
    if (answer.status == NGX_HTTP_SERVICE_UNAVAILABLE) {
        added = added && add_header(r, "Retry-After", request.conf->retry_after);
    } else if (answer.retry_after != 0) {
        added = added && add_header(r, "Retry-After", answer.retry_after);
    }
    if (answer.allow_post) {
        added = added && add_header(r, "Allow", "POST");
    }
    if (request.conf->dry_run != 0) {
        added = added && add_header(r, "X-Sluice-Dry-Run", "1");
    }
    return added;
}

std::optional<Outcome> outcome_of(const IngestRequest& request) noexcept {
    if (request.answer) {
        return request.answer->outcome;
    }
    return is_timed_out(request) ? std::optional(Outcome::kBadRequest) : std::nullopt;
}

Reason reason_of(const IngestRequest& request) noexcept {
    if (request.answer) {
        return request.answer->reason;
    }
    return is_timed_out(request) ? Reason::kBodyRefused : Reason::kNone;
}

void count_once(IngestRequest& request) noexcept {
    const std::optional<Outcome> outcome = outcome_of(request);
    if (request.counted || !outcome) {
        return;
    }
    request.counted = true;
    MetricsBlock& metrics = request.tools.metrics;
    const Reason reason = reason_of(request);
    note_admission(request, *outcome, reason);
    metrics.count_request(request.endpoint(), *outcome, reason, elapsed_ms(request.r));
    if (outcome != Outcome::kAccepted) {
        return;
    }
    metrics.of(request.endpoint())
        .records.fetch_add(request.records_count, std::memory_order_relaxed);
    metrics.count_notes(request.endpoint(), request.notes);
    if (request.cell != nullptr) {
        request.cell->accepted.fetch_add(1, std::memory_order_relaxed);
    }
}

}  // namespace sluice::ngx
