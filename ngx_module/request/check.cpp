#include "ngx_module/request/check.hpp"

#include <utility>

#include "core/intake/checked_body.hpp"
#include "core/intake/rate_window.hpp"
#include "core/protocol/signature.hpp"
#include "ngx_module/nginx/convert.hpp"
#include "ngx_module/nginx/guard.hpp"
#include "ngx_module/nginx/loop_clock.hpp"
#include "ngx_module/request/pieces.hpp"
#include "ngx_module/request/settle.hpp"
#include "ngx_module/store/refusal.hpp"
#include "os/clock/clock.hpp"

namespace sluice::ngx {
namespace {

/// Counts in the account's word of the shared zone.
class ZoneGate final : public RateGate {
public:
    ZoneGate(IngestRequest& request, std::int64_t now_second) noexcept
        : request_(request), now_second_(now_second) {}

    std::optional<RateVerdict> count(const AccountView& account) override {
        request_.authenticated = true;
        const MainConf& main = request_.tools->conf;
        const RateLimit limit = limit_here(main, account.rate_limit);
        request_.cell = main.zone_view.cell_of(account.slot);
        if (limit.requests == 0) {
            return std::nullopt;
        }
        if (request_.cell == nullptr) {
            is_beyond_zone_ = true;
            request_.tools->notes.slot_beyond_zone();
            return std::nullopt;
        }
        const RateVerdict verdict = count_request(request_.cell->rate_word, limit, now_second_);
        if (!verdict.allowed) {
            request_.cell->limited.fetch_add(1, std::memory_order_relaxed);
        }
        return verdict;
    }

    /// The account was to be counted and has no cell.
    [[nodiscard]] bool is_beyond_zone() const noexcept { return is_beyond_zone_; }

private:
    IngestRequest& request_;
    std::int64_t now_second_;
    bool is_beyond_zone_ = false;
};

/// Its digests are known, and its bytes are in a file or were; else they lie in memory.
bool is_streamed(const IngestRequest& request) noexcept {
    return request.stream != nullptr && request.stream->pieces().was_given();
}

Accepting accept(IngestRequest& request, IntakeScratch& scratch, Timestamp now) {
    ZoneGate gate(request, now.seconds);
    WholeBody whole(request.body.view());
    std::optional<StreamedBody> streamed;
    if (is_streamed(request)) {
        streamed.emplace(*request.stream, request.body);
    }
    CheckedBody& body = streamed ? static_cast<CheckedBody&>(*streamed) : whole;
    Accepting accepting =
        request.is_events()
            ? accept_event(request.head, request.conf->scan->names, request.sender, body, gate, now,
                           scratch)
            : accept_catalog(request.head, request.sender, body, gate, now, scratch);
    if (gate.is_beyond_zone()) {
        // Without a limit that can be held, nothing of the account is taken.
        settle_unavailable(request, Reason::kZoneTooSmall);
    }
    return accepting;
}

/// True: the key was used before, and what becomes of the request is known without storing it.
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

/// The file that its record will name, written and synced.
Result<store::BulkFile> bulk_file_of(IngestRequest& request, const Accepted& accepted) {
    if (!is_streamed(request)) {
        const std::string_view body = request.body.view();
        const Digest256 digest = request.is_events() ? sha256(body) : accepted.body_sha256;
        return store::BulkFile::write(request.tools->paths, body, digest);
    }
    std::optional<store::BulkFile> file = request.stream->seal();
    return file ? Result<store::BulkFile>(std::move(*file)) : *request.stream->error();
}

/// False: the request needs no record, because it is settled or a replay.
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
        request.tools->notes.store_error(file.error());
        settle_unavailable(request, reason_of(file.error().code));
        return false;
    }
    request.job.bulk.emplace(std::move(*file));
    accepted.meta.bulk = request.job.bulk->ref();
    request.body.release();
    return true;
}

void claim_key(IngestRequest& request, const Accepted& accepted, Timestamp now) noexcept {
    request.job.item.received_at = now;
    if (!request.is_events()) {
        request.job.item.claim = store::IdempotencyClaim{
            accepted.meta.shop_number, accepted.meta.idempotency_key, accepted.meta.topic,
            accepted.body_sha256, accepted.meta.records_count};
    }
}

/// The bytes of a batch cannot be had, because the disk is full or fails. If the same ones were
/// stored under its key before, they were valid, and it is answered as then.
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
    request.records_count = accepted.meta.records_count;
    request.topic = accepted.meta.topic;
    claim_key(request, accepted, now);
    if (request.conf->dry_run != 0) {
        if (!is_replay(request)) {
            settle_success(request, false);
        }
        return;
    }
    if (request.body.bytes() > store::kInlineBodyBytesMax && !write_bulk(request, accepted)) {
        return;
    }
    request.envelope.encode(accepted.meta, request.body.view());
}

void note_lost_body(const IngestRequest& request) noexcept {
    const std::optional<Error>& error = request.stream->error();
    request.tools->notes.store_error(*error);
}

/// Settles the request, or fills what the commit needs (envelope, claim, bulk file). On the offload
/// thread it may block for the disk; on the event loop the body must lie in memory and be at most
/// store::kInlineBodyBytesMax long.
/// Throws std::bad_alloc. Requires: nobody else uses `scratch` meanwhile.
void check_request(IngestRequest& request, IntakeScratch& scratch, Timestamp now) {
    MetricsBlock& metrics = request.tools->metrics;
    EndpointMetrics& counters =
        metrics.of(request.is_events() ? Endpoint::kEvents : Endpoint::kCatalog);
    const std::uint64_t started_us = monotonic_us();
    counters.body_bytes.fetch_add(request.body.bytes(), std::memory_order_relaxed);
    Accepting accepting = accept(request, scratch, now);
    counters.check_us.observe(monotonic_us() - started_us +
                              (is_streamed(request) ? request.stream->hash_us() : 0));
    request.rate = accepting.rate;
    if (accepting.is_body_gone) {
        note_lost_body(request);
        if (!request.is_events() && is_known_batch(request, accepting.accepted, now)) {
            return;
        }
    }
    if (accepting.answer) {
        settle(request, std::move(*accepting.answer));
    }
    if (request.answer) {
        return;
    }
    prepare_record(request, accepting.accepted, now);
}

/// Small bodies in memory are checked at once; others may block for the disk, or take long.
bool is_offloaded(const IngestRequest& request) noexcept {
    const bool looks_up_key = request.conf->dry_run != 0 && !request.is_events();
    return looks_up_key || request.body.spooled() ||
           request.body.bytes() > request.conf->offload_threshold ||
           request.body.bytes() > store::kInlineBodyBytesMax;
}

Step after_check(const IngestRequest& request) noexcept {
    return request.answer ? Step::kAnswer : Step::kCommit;
}

/// The last of its pieces is taken. What goes into its record as it is, is read at once, so that it
/// needs no file from here on.
void end_stream(IngestRequest& request) {
    BodyStream& stream = *request.stream;
    stream.take(stream.pieces().rest(), request.tools->paths);
    stream.pieces().release();
    if (request.body.bytes() <= store::kInlineBodyBytesMax && stream.read_into(request.body)) {
        stream.drop();
    }
}

/// On the offload pool's thread.
void check_offloaded(IngestRequest& request) {
    RequestTools& tools = *request.tools;
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
        request.stream->drop();  // what is stored has it no more
    }
}

void on_renewed(KeyWaiter& waiter) noexcept {
    wake(*static_cast<IngestRequest*>(waiter.owner));
}

void on_offloaded(OffloadJob& job) noexcept {
    wake(*static_cast<IngestRequest*>(job.owner));
}

}  // namespace

Step check(IngestRequest& request) {
    if (request.sender.is_key_outdated && request.tools->keys.wait(request.key_waiter)) {
        request.key_waiter.owner = &request;
        request.key_waiter.renewed = on_renewed;
        return park_until(request, Step::kRenewed);
    }
    if (is_offloaded(request)) {
        return Step::kOffload;
    }
    (void)request.body.gather();  // it lies in memory: no file can fail
    check_request(request, request.tools->scratch, loop_time());
    return after_check(request);
}

Step offload(IngestRequest& request) {
    OffloadJob& job = request.offload_job;
    job.owner = &request;
    job.run = run_offloaded;
    job.completed = on_offloaded;
    request.queue = request.tools->store.queue();
    if (request.tools->offload.start(job, request.body.bytes())) {
        return park_until(request, Step::kOffloaded);
    }
    settle_unavailable(request, Reason::kMemory);
    return drop_pieces(request, Step::kAnswer);
}

Step offloaded(IngestRequest& request) {
    if (request.committed) {
        settle_commit(request);  // a replay, found without a commit
    }
    return request.answer ? answer_or_leave(request) : Step::kCommit;
}

}  // namespace sluice::ngx
