#include "ngx_module/request/check.hpp"

#include <utility>

#include "core/intake/rate_word.hpp"
#include "core/protocol/signature.hpp"
#include "ngx_module/nginx/convert.hpp"
#include "ngx_module/process/edge.hpp"
#include "ngx_module/request/answer.hpp"

namespace sluice::ngx {
namespace {

/// Counts in the account's word of the shared zone.
class ZoneGate final : public RateGate {
public:
    ZoneGate(IngestRequest& request, std::int64_t now_second) noexcept
        : request_(request), now_second_(now_second) {}

    std::optional<RateVerdict> count(const AccountView& account) override {
        request_.authenticated = true;
        const MainConf& main = *request_.main;
        const RateLimit limit = limit_here(main, account.rate_limit);
        request_.cell = main.zone_view.cell_of(account.slot);
        if (limit.requests == 0) {
            return std::nullopt;
        }
        if (request_.cell == nullptr) {
            Edge::current()->note_slot_beyond_zone();
            return std::nullopt;
        }
        const RateVerdict verdict = count_request(request_.cell->rate_word, limit, now_second_);
        if (!verdict.allowed) {
            request_.cell->limited.fetch_add(1, std::memory_order_relaxed);
        }
        return verdict;
    }

private:
    IngestRequest& request_;
    std::int64_t now_second_;
};

Accepting accept(IngestRequest& request, IntakeScratch& scratch, Timestamp now) {
    ZoneGate gate(request, now.seconds);
    const std::string_view body = request.body.view();
    return request.is_events()
               ? accept_event(request.head, request.conf->scan->names, request.sender, body, gate,
                              now, scratch)
               : accept_catalog(request.head, request.sender, body, gate, now, scratch);
}

Reason reason_of_error(ErrorCode code) noexcept {
    switch (code) {
        case ErrorCode::kNoSpace:
        case ErrorCode::kFull:
            return Reason::kDiskFull;
        case ErrorCode::kIo:
            return Reason::kIoError;
        default:
            return Reason::kStoreUnavailable;
    }
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
    const std::string_view body = request.body.view();
    const Digest256 digest = request.is_events() ? sha256(body) : accepted.body_sha256;
    Result<store::BulkFile> file = store::BulkFile::write(Edge::current()->paths(), body, digest);
    if (!file) {
        Edge::current()->note_store_error(file.error());
        settle_unavailable(request, reason_of_error(file.error().code));
        return false;
    }
    request.job.bulk.emplace(std::move(*file));
    accepted.meta.bulk = request.job.bulk->ref();
    request.body.release();
    return true;
}

void prepare_record(IngestRequest& request, Accepted& accepted, Timestamp now) {
    accepted.meta.received_at = now;
    accepted.meta.request_id = request.request_id;
    request.job.item.received_at = now;
    request.records_count = accepted.meta.records_count;
    request.topic = accepted.meta.topic;
    if (!request.is_events()) {
        request.job.item.claim = store::IdempotencyClaim{
            accepted.meta.shop_number, accepted.meta.idempotency_key, accepted.meta.topic,
            accepted.body_sha256, accepted.meta.records_count};
    }
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

}  // namespace

void check_request(IngestRequest& request, IntakeScratch& scratch, Timestamp now) {
    MetricsBlock& metrics = Edge::current()->metrics();
    EndpointMetrics& counters =
        metrics.of(request.is_events() ? Endpoint::kEvents : Endpoint::kCatalog);
    const std::uint64_t started_us = monotonic_us();
    counters.body_bytes.fetch_add(request.body.bytes(), std::memory_order_relaxed);
    Accepting accepting = accept(request, scratch, now);
    counters.check_us.observe(monotonic_us() - started_us);
    request.rate = accepting.rate;
    if (accepting.answer) {
        settle(request, std::move(*accepting.answer));
        return;
    }
    prepare_record(request, accepting.accepted, now);
}

}  // namespace sluice::ngx
