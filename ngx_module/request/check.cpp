#include <utility>

#include "core/intake/body.hpp"
#include "core/intake/rate_window.hpp"
#include "core/protocol/signature.hpp"
#include "core/values/token_number.hpp"
#include "ngx_module/nginx/event_loop.hpp"
#include "ngx_module/nginx/ngx_api.hpp"
#include "ngx_module/request/stages.hpp"
#include "ngx_module/store/store_link.hpp"
#include "os/clock/clock.hpp"

namespace sluice::ngx {
namespace {

/// Counts in the account's rate word in the shared zone.
class ZoneGate final : public RateGate {
public:
    ZoneGate(IngestRequest& request, std::int64_t now_second) noexcept
        : request_(request), now_second_(now_second) {}

    std::optional<RateVerdict> count(const AccountView& account) override {
        recognize(account);
        const MainConf& main = request_.tools.conf;
        const RateLimit limit = limit_here(main, account.rate_limit);
        if (limit.requests == 0) {
            return std::nullopt;
        }
        if (request_.cell == nullptr) {
            is_beyond_zone_ = true;
            request_.tools.notes.slot_beyond_zone();
            return std::nullopt;
        }
        const RateVerdict verdict = count_request(request_.cell->rate_word, limit, now_second_);
        if (!verdict.allowed) {
            request_.cell->limited.fetch_add(1, std::memory_order_relaxed);
        }
        return verdict;
    }

    void recognize(const AccountView& account) override {
        request_.authenticated = true;
        request_.cell = request_.tools.conf.zone_view.cell_of(account.slot);
    }

    /// Returns true if the account should have been counted and has no cell.
    [[nodiscard]] bool is_beyond_zone() const noexcept { return is_beyond_zone_; }

private:
    IngestRequest& request_;
    std::int64_t now_second_;
    bool is_beyond_zone_ = false;
};

/// Returns true if the digests are known and the bytes are, or were, in a file; otherwise the bytes
/// are in memory.
bool is_streamed(const IngestRequest& request) noexcept {
    return request.stream != nullptr && request.stream->pieces().was_given();
}

Accepting accept_body(const IngestRequest& request, CheckedBody& body, RateGate& gate,
                      Timestamp now, IntakeScratch& scratch) {
    const HeaderNames& names = request.conf->scan->names;
    if (request.is_events()) {
        return accept_event(request.head, names, request.sender, body, gate, now, scratch);
    }
    if (request.is_clicks()) {
        return accept_clicks(request.head, names, request.sender, body, gate, now, scratch);
    }
    if (request.is_catalog()) {
        return accept_catalog(request.head, request.sender, body, gate, scratch);
    }
    return accept_webhook(request.head, request.platform(), names.anon_field, request.sender, body,
                          gate, now, scratch);
}

Accepting accept(IngestRequest& request, IntakeScratch& scratch, Timestamp now) {
    ZoneGate gate(request, now.seconds);
    WholeBody whole(request.body.view());
    std::optional<StreamedBody> streamed;
    if (is_streamed(request)) {
        streamed.emplace(*request.stream, request.body);
    }
    CheckedBody& body = streamed ? static_cast<CheckedBody&>(*streamed) : whole;
    Accepting accepting = accept_body(request, body, gate, now, scratch);
    request.token = accepting.token != nullptr ? token_number(accepting.token->token_id.view()) : 0;
    if (gate.is_beyond_zone()) {
        // The account's limit cannot be held, so that none of its requests is accepted.
        settle_unavailable(request, Reason::kZoneTooSmall);
    }
    return accepting;
}

/// Returns true if the key was used before, so that the outcome is known without a commit.
bool is_replay(IngestRequest& request) noexcept {
    store::AppendItem& item = request.job.item;
    if (!item.claim || request.queue == nullptr) {
        return false;
    }
    request.queue->find_replay(item, item.received_at);
    if (item.outcome == store::AppendOutcome::kPending) {
        return false;
    }
    request.records_count = item.records_count;
    request.committed = true;
    return true;
}

/// Returns the file that the record will name, written and synced.
Result<store::BulkFile> bulk_file_of(IngestRequest& request, const Accepted& accepted) {
    if (!is_streamed(request) || request.translated) {
        const std::string_view body = request.stored_body();
        const Digest256 digest = request.is_catalog() ? accepted.body_sha256 : sha256(body);
        return store::BulkFile::write(request.tools.paths, body, digest);
    }
    std::optional<store::BulkFile> file = request.stream->seal();
    return file ? Result<store::BulkFile>(std::move(*file)) : *request.stream->error();
}

/// Returns false if the request needs no record, because it is settled or a replay.
bool write_bulk(IngestRequest& request, Accepted& accepted) {
    if (is_replay(request)) {
        return false;
    }
    if (const auto closed = request.queue != nullptr ? request.queue->closed_reason()
                                                     : store::AppendOutcome::kUnavailable) {
        settle_unavailable(request, reason_of(*closed));
        return false;
    }
    Result<store::BulkFile> file = bulk_file_of(request, accepted);
    if (!file) {
        settle_store_error(request, file.error(), reason_of(file.error().code));
        return false;
    }
    request.job.bulk.emplace(std::move(*file));
    accepted.meta.bulk = request.job.bulk->ref();
    request.body.release();
    return true;
}

void claim_key(IngestRequest& request, const Accepted& accepted, Timestamp now) noexcept {
    request.job.item.received_at = now;
    if (request.is_catalog()) {
        request.job.item.claim = store::IdempotencyClaim{
            accepted.meta.shop_number, accepted.meta.idempotency_key, accepted.meta.topic,
            accepted.body_sha256, accepted.meta.records_count};
    }
}

/// Handles a batch whose bytes cannot be read, because the disk is full or fails. Returns true if
/// the same bytes were stored under its key before: they were valid, and the answer is the same.
bool is_known_batch(IngestRequest& request, const Accepted& accepted, Timestamp now) noexcept {
    claim_key(request, accepted, now);
    if (is_replay(request) && request.job.item.outcome == store::AppendOutcome::kReplayed) {
        return true;
    }
    request.job.item = {};
    request.records_count = 0;
    request.committed = false;
    return false;
}

void prepare_record(IngestRequest& request, Accepted& accepted, Timestamp now) {
    accepted.meta.received_at = now;
    accepted.meta.request_id = request.request_id;
    accepted.meta.token = request.token;
    accepted.meta.traceparent = trace_of(request.head);
    request.records_count = accepted.meta.records_count;
    request.stored_as = accepted.outcome;
    request.notes = accepted.notes;
    if (accepted.translated) {
        request.translated.emplace(*accepted.translated);  // the next request uses the scratch
    }
    claim_key(request, accepted, now);
    if (request.conf->dry_run != 0) {
        if (!is_replay(request)) {
            settle_success(request, false);
        }
        return;
    }
    const std::uint64_t bytes =
        request.translated ? request.translated->size() : request.body.bytes();
    if (bytes > store::kInlineBodyBytesMax && !write_bulk(request, accepted)) {
        return;
    }
    request.envelope.encode(accepted.meta,
                            request.job.bulk ? std::string_view() : request.stored_body());
}

/// Settles the request, or sets what the commit needs (envelope, claim, bulk file). May wait for
/// the disk on the offload thread. On the event loop, the body must be in memory and at most
/// store::kInlineBodyBytesMax long. Requires: no other thread uses `scratch`. Throws
/// std::bad_alloc.
void check_request(IngestRequest& request, IntakeScratch& scratch, Timestamp now) {
    MetricsBlock& metrics = request.tools.metrics;
    EndpointMetrics& counters = metrics.of(request.endpoint());
    const std::uint64_t started_us = monotonic_us();
    counters.body_bytes.fetch_add(request.body.bytes(), std::memory_order_relaxed);
    Accepting accepting = accept(request, scratch, now);
    counters.check_us.observe(monotonic_us() - started_us +
                              (is_streamed(request) ? request.stream->hash_us() : 0));
    request.rate = accepting.rate;
    if (accepting.is_body_gone) {
        request.tools.notes.store_error(*request.stream->error());
        if (request.is_catalog() && is_known_batch(request, accepting.accepted, now)) {
            return;
        }
    }
    if (accepting.answer && accepting.answer->reason == Reason::kOtherTopic) {
        request.tools.notes.ignored_topic(request.platform(), request.head.topic.value);
    }
    if (accepting.answer) {
        settle(request, std::move(*accepting.answer));
    }
    if (request.answer) {
        return;
    }
    prepare_record(request, accepting.accepted, now);
}

/// Returns $request_id. Event loop only, because nginx computes its variables there.
std::string_view request_id_of(ngx_http_request_t* r, ngx_int_t index) noexcept {
    if (index == NGX_ERROR) {
        return {};
    }
    const ngx_http_variable_value_t* value =
        ngx_http_get_indexed_variable(r, static_cast<ngx_uint_t>(index));
    if (value == nullptr || value->not_found) {
        return {};
    }
    return {reinterpret_cast<const char*>(value->data), value->len};
}

/// Returns false for small bodies in memory, which are checked at once. Others may wait for the
/// disk or take long.
bool is_offloaded(const IngestRequest& request) noexcept {
    const bool looks_up_key = request.conf->dry_run != 0 && request.is_catalog();
    return looks_up_key || request.body.spooled() ||
           request.body.bytes() > request.conf->offload_threshold ||
           request.body.bytes() > store::kInlineBodyBytesMax;
}

/// Takes the last piece. Reads a body that its record will contain at once, so that the file is not
/// needed any more.
void end_stream(IngestRequest& request) {
    BodyStream& stream = *request.stream;
    stream.take(stream.pieces().rest(), request.tools.paths);
    stream.pieces().release();
    if (request.body.bytes() <= store::kInlineBodyBytesMax && stream.read_into(request.body)) {
        stream.drop();
    }
}

/// Runs on the offload pool's thread.
void check_offloaded(IngestRequest& request) {
    RequestTools& tools = request.tools;
    tools.metrics.offloaded.fetch_add(1, std::memory_order_relaxed);
    if (is_streamed(request)) {
        end_stream(request);
    } else if (!request.body.gather()) {
        settle_unavailable(request, Reason::kIoError);
        return;
    }
    std::unique_ptr<IntakeScratch> scratch = tools.offload.borrow();
    check_request(request, *scratch, now());
    tools.offload.give_back(std::move(scratch));
}

void run_offloaded(OffloadJob& job, ngx_log_t* log) noexcept {
    auto& request = *static_cast<IngestRequest*>(job.owner);
    const bool checked = guarded(log, false, [&] {
        check_offloaded(request);
        return true;
    });
    if (!checked) {
        settle_internal_error(request);
    }
    if (is_streamed(request)) {
        request.stream->drop();  // a file that a record names was taken out by seal()
    }
}

void on_renewed(KeyWaiter& waiter) noexcept {
    wake(*static_cast<IngestRequest*>(waiter.owner), Step::kLookUpAgain);
}

void on_offloaded(OffloadJob& job) noexcept {
    wake(*static_cast<IngestRequest*>(job.owner), Step::kOffloaded);
}

/// Returns the step after a check that ended without an answer. Clicks leave the second half of the
/// queue to orders, so that no order is refused because of clicks.
Step commit_unless_half_full(IngestRequest& request) {
    const store::Queue* queue = request.is_clicks() ? request.tools.store.queue() : nullptr;
    if (queue != nullptr && queue->is_half_full()) {
        settle_unavailable(request, Reason::kQueueFull);
        return Step::kAnswer;
    }
    return Step::kCommit;
}

}  // namespace

Step check(IngestRequest& request) {
    if (request.sender.is_key_outdated && request.tools.keys.wait(request.key_waiter)) {
        request.key_waiter.owner = &request;
        request.key_waiter.renewed = on_renewed;
        return Step::kParked;
    }
    request.request_id = request_id_of(request.r, request.tools.conf.request_id_index);
    if (is_offloaded(request)) {
        return Step::kOffload;
    }
    (void)request.body.gather();  // the body is in memory, so that no file can fail
    check_request(request, request.tools.scratch, loop_time());
    return request.answer ? Step::kAnswer : commit_unless_half_full(request);
}

Step offload(IngestRequest& request) {
    OffloadJob& job = request.offload_job;
    job.owner = &request;
    job.run = run_offloaded;
    job.completed = on_offloaded;
    request.queue = request.tools.store.queue();
    if (request.tools.offload.start(job, request.body.bytes())) {
        return Step::kParked;
    }
    settle_unavailable(request, Reason::kMemory);
    return Step::kDropPieces;
}

Step offloaded(IngestRequest& request) {
    if (request.committed) {
        return Step::kCommitted;  // a replay, found without a commit
    }
    return request.answer ? answer_or_leave(request) : commit_unless_half_full(request);
}

}  // namespace sluice::ngx
