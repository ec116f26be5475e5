#include "worker/drain/housekeeping.hpp"

#include <unistd.h>

#include <array>
#include <numeric>
#include <tuple>
#include <utility>

#include "core/commands/seal.hpp"
#include "lmdb_store/ledger/ledger.hpp"
#include "lmdb_store/queue/bulk_file.hpp"
#include "program/system/crash_point.hpp"

namespace sluice::worker {
namespace {

constexpr std::size_t kTrimSlice = 1000;
constexpr std::uint64_t kIdleMs = 100;
/// A bulk file is written before its record, so a younger file may still get a record.
constexpr std::int64_t kOrphanSeconds = 3600;
constexpr std::chrono::milliseconds kSweepSlice{20};
// The page of figures has a place for every kind: one kind more would be counted as another.
static_assert(kAnomalyKinds <=
              2 * std::tuple_size_v<decltype(store::ControlWords::first_anomalies)>);
static_assert(store::kDeadKinds <= std::tuple_size_v<decltype(store::ControlWords::dead_by_kind)>);

store::DeadKind kind_of(const DeadLetter& letter) {
    if (is_not_sealed(letter.reason)) {
        return store::DeadKind::kNotSealed;
    }
    if (!letter.topic) {
        return store::DeadKind::kUnreadable;
    }
    if (*letter.topic == Topic::kPrivacyRequest) {
        return store::DeadKind::kPrivacyRequest;
    }
    if (is_of_order(*letter.topic)) {
        return store::DeadKind::kOrder;
    }
    if (is_clicks(*letter.topic)) {
        return store::DeadKind::kClicks;
    }
    return is_catalog(*letter.topic) ? store::DeadKind::kCatalog : store::DeadKind::kCommand;
}

void set(std::atomic<std::uint64_t>& word, std::uint64_t value) {
    word.store(value, std::memory_order_relaxed);  // figures for people: no order among them
}

}  // namespace

bool Housekeeping::Every::due() {
    const Clock::time_point now = steady_now();
    if (now < next_) {
        return false;
    }
    next_ = now + period_;
    return true;
}

Housekeeping::Housekeeping(const store::StorePaths& paths, store::Queue& queue)
    : paths_(paths),
      queue_(queue),
      words_(queue.control().words()),
      token_days_(paths),
      sweep_(paths, queue, kOrphanSeconds) {}

void Housekeeping::starting(std::uint64_t version) {
    set(words_.worker_pid, static_cast<std::uint64_t>(::getpid()));
    set(words_.worker_started_ms, wall_ms());
    set(words_.worker_version, version);
    state(store::WorkerState::kStarting, nullptr);
}

void Housekeeping::state(store::WorkerState state, const Error* waiting_for) {
    set(words_.worker_state, static_cast<std::uint64_t>(state));
    set(words_.worker_error,
        waiting_for == nullptr ? 0 : 1 + static_cast<std::uint64_t>(waiting_for->code));
    heartbeat();
}

void Housekeeping::heartbeat() {
    set(words_.heartbeat_ms, wall_ms());
    if (queue_check_.due()) {
        note_queue();
    }
}

void Housekeeping::note_queue() {
    const auto fill = queue_.fill();
    if (!fill) {
        return;
    }
    set(words_.queue_last_seq, fill->last_seq.value);
    if (noted_ <= published_) {
        noted_ = fill->last_seq;
        set(words_.queue_noted_ms, wall_ms());
    }
}

/// Removes the files first, because nginx may trim their records as soon as the checkpoint is
/// published. A process that is killed in between would otherwise leave files that no record names.
void Housekeeping::publish(SequenceNumber durable) {
    while (!bulk_.empty() && bulk_.front().seq <= durable) {
        store::remove_bulk(paths_, bulk_.front().name);
        bulk_.pop_front();
        crash_point("unlinked");
    }
    if (durable != published_) {
        queue_.control().publish_applied(durable);
        published_ = durable;
        crash_point("published");
    }
}

void Housekeeping::find_applied_bulk(SequenceNumber applied) {
    constexpr std::size_t kRecordsPerRead = 1000;
    constexpr std::size_t kBytesPerRead = 8U << 20;
    for (SequenceNumber from{1}; from <= applied;) {
        const auto records = queue_.read(from, kRecordsPerRead, kBytesPerRead);
        if (!records || records->empty()) {
            return;  // the sweep of orphans finds what is missed here
        }
        for (const store::QueuedRecord& queued : *records) {
            if (queued.seq > applied) {
                return;
            }
            from.value = queued.seq.value + 1;
            if (!claims_bulk(queued.bytes)) {
                continue;
            }
            if (const auto record = decode_record(queued.bytes); record && record->meta.bulk) {
                bulk_.push_back({queued.seq, std::string(record->meta.bulk->file_name)});
            }
        }
    }
}

void Housekeeping::applied_bulk(const std::vector<OwnedInput>& inputs, std::size_t first,
                                std::size_t count) {
    for (std::size_t at = first; at < first + count; ++at) {
        if (!inputs[at].bulk_file.empty()) {
            bulk_.push_back({inputs[at].seq, inputs[at].bulk_file});
        }
    }
}

void Housekeeping::applied_tokens(const std::vector<OwnedInput>& inputs, std::size_t first,
                                  std::size_t count) {
    for (std::size_t at = first; at < first + count; ++at) {
        token_days_.note(inputs[at].token, inputs[at].received_at);
    }
}

void Housekeeping::figures(const LedgerHead& head, std::uint64_t work_pieces) {
    const Totals& totals = head.totals;
    set(words_.attribution_left, work_pieces);
    set(words_.applied, totals.applied);
    set(words_.stale, totals.stale);
    set(words_.duplicate, totals.duplicate);
    set(words_.dead, totals.dead);
    set(words_.dead_open, totals.dead);  // a replayed letter counts in its new class
    set(words_.catalog, totals.catalog);
    set(words_.commands, totals.commands);
    set(words_.clicks, totals.clicks);
    set(words_.clicks_stored, totals.clicks_stored);
    set(words_.clicks_known, totals.clicks_known);
    set(words_.clicks_without_link, totals.clicks_without_link);
    set(words_.clicks_expired, totals.clicks_expired);
    set(words_.orders, totals.orders);
    set(words_.journal_entries, totals.journal_entries);
    set(words_.anomalies,
        std::accumulate(totals.anomalies.begin(), totals.anomalies.end(), std::uint64_t{0}));
    for (std::size_t kind = 0; kind < totals.anomalies.size(); ++kind) {
        set(words_.anomalies_of(kind), totals.anomalies[kind]);
    }
}

void Housekeeping::batch_figures(std::uint64_t inputs, std::chrono::microseconds took) {
    set(words_.apply_batch_records, inputs);
    set(words_.apply_batch_us, static_cast<std::uint64_t>(took.count()));
}

Result<bool> Housekeeping::trim_slice() {
    const auto deleted = queue_.trim(published_, kTrimSlice);
    if (!deleted) {
        return deleted.error();
    }
    crash_point("trimmed");
    if (*deleted < kTrimSlice) {
        trimmed_ = published_;
    }
    return trimmed_ < published_;
}

Result<bool> Housekeeping::trim_when_idle() {
    const std::uint64_t last_append = words_.last_append_ms.load(std::memory_order_relaxed);
    const std::uint64_t now = wall_ms();
    // A clock that was set back must not keep the queue from being trimmed.
    const bool appended_lately = now >= last_append && now - last_append < kIdleMs;
    if (trimmed_ >= published_ || appended_lately) {
        return false;
    }
    return trim_slice();
}

Status Housekeeping::trim_when_crowded() {
    if (trimmed_ >= published_ || !mark_check_.due()) {
        return Status::success();
    }
    const auto fill = queue_.fill();
    if (!fill) {
        return fill.error();
    }
    if (fill->bytes_used < fill->bytes_high_water) {
        return Status::success();
    }
    const auto more = trim_slice();
    return more ? Status::success() : Status(more.error());
}

bool Housekeeping::is_crowded() const {
    const auto fill = queue_.fill();
    return !fill || fill->bytes_used >= fill->bytes_high_water / 2;
}

void Housekeeping::count_dead(Ledger& ledger, const std::string& node) {
    const auto snapshot = ledger.snapshot(node);
    const std::uint64_t dead = snapshot->head().totals.dead;
    if (dead == dead_counted_) {
        return;
    }
    dead_counted_ = dead;
    std::array<std::uint64_t, store::kDeadKinds> open{};
    snapshot->scan_dead(
        [&](const DeadLetter& letter) { ++open[static_cast<std::size_t>(kind_of(letter))]; });
    for (std::size_t kind = 0; kind < open.size(); ++kind) {
        set(words_.dead_by_kind[kind], open[kind]);
    }
}

void Housekeeping::sweep_orphans(Clock::time_point until) {
    if (sweep_orphans_.due()) {
        (void)sweep_.begin();  // what fails is tried again by the next sweep
    }
    do {
        (void)sweep_.step();
    } while (sweep_.is_under_way() && steady_now() < until);
}

void Housekeeping::periodic(Ledger& ledger, const std::string& node,
                            const ArchiveFollower& archive) {
    sweep_orphans(steady_now() + kSweepSlice);
    if (!clear_readers_.due()) {
        return;
    }
    queue_.clear_stale_readers();
    static_cast<void>(token_days_.save());  // the next call tries again
    set(words_.archive_bytes, archive.bytes());
    count_dead(ledger, node);
    if (auto* embedded = dynamic_cast<store::EmbeddedLedger*>(&ledger)) {
        embedded->clear_stale_readers();
        const store::LedgerSize fill = embedded->size();
        set(words_.ledger_bytes_used, fill.bytes_to_last_page);
        set(words_.ledger_bytes_map, fill.bytes_map);
    }
}

std::optional<Status> Housekeeping::recover_lanes() {
    return lanes_check_.due() ? std::optional(queue_.recover_lanes()) : std::nullopt;
}

Result<bool> Housekeeping::move_lanes(SequenceNumber applied) {
    const auto fill = queue_.fill_with_lanes();
    if (!fill) {
        return fill.error();
    }
    if (fill->lanes.records == 0) {
        // nginx may have moved records since the worker found the queue empty. The worker reads it
        // once more, but not again for the same last number: those records were lost.
        const SequenceNumber before = std::exchange(moved_by_nginx_, fill->last_seq);
        return fill->last_seq > applied && fill->last_seq != before;
    }
    const Status moved = queue_.empty_lanes();
    return moved ? Result<bool>(true) : moved.error();
}

bool Housekeeping::store_in_place(Ledger& ledger) {
    if (!files_check_.due()) {
        return true;
    }
    const auto* embedded = dynamic_cast<const store::EmbeddedLedger*>(&ledger);
    return queue_.still_in_place() && (embedded == nullptr || embedded->still_in_place());
}

}  // namespace sluice::worker
