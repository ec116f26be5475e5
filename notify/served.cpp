#include "notify/served.hpp"

#include <algorithm>
#include <utility>

#include "core/values/lookup.hpp"

namespace sluice::notify {
namespace {

constexpr std::size_t kReadMax = 64;
/// Pause after a read that failed.
constexpr std::uint64_t kReadPauseMs = 1000;

std::uint64_t entries_of(const lists::FeedPlace& place) {
    return sum_of(place, [](const auto& chain) { return chain.second.change; });
}

bool has_reached(const lists::FeedPlace& place, const lists::FeedPlace& until) {
    return std::ranges::all_of(until, [&](const auto& end) {
        const auto* const at = find_value(place, end.first);
        return at != nullptr && at->change >= end.second.change;
    });
}

bool is_at_or_before(const store::ChangeId& change, const lists::FeedPlace& until) {
    const auto* const end = find_value(until, change.node);
    return end != nullptr && change.last <= end->change;
}

}  // namespace

AddressJudge judge_of(const store::Destination& destination) {
    std::vector<Cidr> blocks;
    for (const std::string& text : destination.allowed_blocks) {
        if (auto block = Cidr::parse(text); block.ok()) {
            blocks.push_back(std::move(block).value());
        }
    }
    return AddressJudge(std::move(blocks));
}

bool is_success(const cli::HttpResponse& answer) noexcept {
    constexpr long kOk = 200, kRedirect = 300;
    return answer.status >= kOk && answer.status < kRedirect;
}

std::string error_text(const cli::HttpResponse& answer) {
    constexpr long kRedirect = 300, kClientError = 400;
    if (answer.status == 0) {
        return answer.error;
    }
    return "answered " + std::to_string(answer.status) +
           (answer.status >= kRedirect && answer.status < kClientError ? ", which is not followed"
                                                                       : "");
}

Served::Served(store::StoredDestination row, const std::vector<store::PendingChange>& pending,
               std::vector<store::Replay> replays)
    : row_(std::move(row)),
      outbox_(pending, row_.progress),
      judge_(judge_of(row_.destination)),
      replays_(std::move(replays)) {
    start_fresh();
}

void Served::refresh(store::StoredDestination row, std::vector<store::Replay> replays) {
    if (row.destination.revision != row_.destination.revision) {
        row_.progress.disabled_at = row.progress.disabled_at;
        row_.progress.disabled_why = row.progress.disabled_why;
        row_.destination = std::move(row.destination);
        start_fresh();
    }
    for (store::Replay& replay : replays) {
        if (replays_.empty() || replay.number > replays_.back().number) {
            if (!has_item(ended_replays_, replay.number)) {
                replays_.push_back(std::move(replay));
            }
        }
    }
}

void Served::start_fresh() {
    if (row_.progress.fresh_starts == row_.destination.fresh_starts) {
        return;
    }
    row_.progress.fresh_starts = row_.destination.fresh_starts;
    if (row_.destination.restart) {
        row_.progress.place = *row_.destination.restart;
        outbox_.clear();
        notices_.clear();
    }
    outbox_.start_fresh();
    failed_at_ = 0;
    set_unstored(Unstored::kOutcome);
}

std::optional<FeedOrder> Served::next_read(std::uint64_t entries, std::uint64_t now) {
    if (is_reading_ || !is_sending() || !outbox_.may_read() || rests(now)) {
        return std::nullopt;
    }
    std::optional<FeedOrder> order = next_replay();
    const bool is_stuck = entries == stuck_at_entries_ && entries != 0;
    if (!order && !is_stuck && entries > entries_of(row_.progress.place)) {
        order = new_order();
        order->after = row_.progress.place;
    }
    is_reading_ = order.has_value();
    return order;
}

/// A failure in the future means that the clock was set back.
bool Served::rests(std::uint64_t now) const noexcept {
    return now >= failed_at_ && now - failed_at_ < kReadPauseMs;
}

FeedOrder Served::new_order() const {
    return {.destination = row_.destination.id,
            .uuid = row_.destination.uuid,
            .account = row_.destination.account,
            .limit = kReadMax,
            .types = row_.destination.types};
}

std::optional<FeedOrder> Served::next_replay() const {
    if (replays_.empty()) {
        return std::nullopt;
    }
    const store::Replay& replay = replays_.front();
    FeedOrder order = new_order();
    order.replay = replay.number;
    order.after = replay.place;
    order.since = replay.since;
    const std::size_t count = std::min(replay.changes.size(), kReadMax);
    order.only.assign(replay.changes.begin(),
                      replay.changes.begin() + static_cast<std::ptrdiff_t>(count));
    return order;
}

std::string Served::took(FeedBatch batch, std::uint64_t now) {
    is_reading_ = false;
    if (batch.error) {
        failed_at_ = now;
        return {};
    }
    if (batch.order.replay != 0) {
        took_replay(batch);
        return {};
    }
    if (row_.progress.place != batch.order.after) {
        return {};  // a command has moved the cursor meanwhile
    }
    if (batch.diverged) {
        row_.progress.disabled_at = now;
        row_.progress.disabled_why =
            "the ledger is not the one that was read before, as after a restore: resume the "
            "destination with --from";
        set_unstored(Unstored::kOutcome);
        return "is disabled: " + row_.progress.disabled_why;
    }
    stuck_at_entries_ = batch.place == batch.order.after ? batch.entries : 0;
    row_.progress.place = std::move(batch.place);
    row_.progress.entries = batch.entries;
    for (Notice& notice : batch.notices) {
        add(std::move(notice));
    }
    set_unstored(Unstored::kPlace);
    return {};
}

void Served::took_replay(const FeedBatch& batch) {
    if (replays_.empty() || replays_.front().number != batch.order.replay) {
        return;
    }
    store::Replay& replay = replays_.front();
    for (const Notice& notice : batch.notices) {
        if (!replay.changes.empty() || is_at_or_before(notice.change.change, replay.until)) {
            add(notice);
        }
    }
    bool has_ended = batch.diverged;
    if (replay.changes.empty()) {
        has_ended =
            has_ended || has_reached(batch.place, replay.until) || batch.place == replay.place;
        replay.place = batch.place;
    } else {
        replay.changes.erase(
            replay.changes.begin(),
            replay.changes.begin() + static_cast<std::ptrdiff_t>(batch.order.only.size()));
        has_ended = replay.changes.empty();
    }
    replay_moved_ = true;
    if (has_ended) {
        ended_replays_.push_back(replay.number);
        replays_.erase(replays_.begin());
    }
    set_unstored(Unstored::kPlace);
}

void Served::add(Notice notice) {
    const store::ChangeId change = notice.change.change;
    if (outbox_.add(notice.change)) {
        notices_.insert_or_assign(change, std::move(notice));
    }
}

std::optional<store::PendingChange> Served::take(std::uint64_t now) {
    return is_sending() ? outbox_.take(now) : std::nullopt;
}

const Notice* Served::notice_of(const store::ChangeId& change) const {
    return find_value(notices_, change);
}

FeedOrder Served::body_order(const store::ChangeId& change) const {
    FeedOrder order = new_order();
    order.only = {change};
    return order;
}

void Served::drop(const store::PendingChange& change, std::uint64_t now) {
    outbox_.drop(change.change);
    store::Attempt attempt;
    attempt.at = now;
    attempt.destination = row_.destination.id;
    attempt.change = change.change;
    attempt.number = change.failures + 1;
    attempt.outcome = store::AttemptOutcome::kFailed;
    attempt.error = "the ledger does not have this change";
    ++row_.progress.expired;
    attempts_.push_back(std::move(attempt));
    set_unstored(Unstored::kOutcome);
}

std::string Served::ended(const Notice& notice, std::uint32_t number,
                          const cli::HttpResponse& answer, std::uint64_t now, unsigned jitter) {
    constexpr long kGone = 410;
    const store::ChangeId& change = notice.change.change;
    store::DestinationProgress& progress = row_.progress;
    const bool was_failing = progress.failing_since != 0;
    store::Attempt attempt{now,
                           row_.destination.id,
                           notice.webhook_id,
                           notice.type,
                           change,
                           number,
                           store::AttemptOutcome::kDelivered,
                           static_cast<std::uint32_t>(answer.status),
                           static_cast<std::uint32_t>(answer.took.count()),
                           {},
                           0};
    notices_.erase(change);
    std::string sentence;
    if (is_success(answer)) {
        outbox_.succeeded(change, now);
        ++progress.delivered;
        progress.last_error.clear();
        sentence = was_failing ? "takes notifications again" : "";
    } else {
        attempt.error = error_text(answer);
        const auto asked = answer.retry_after_s
                               ? std::optional(std::chrono::seconds(*answer.retry_after_s))
                               : std::nullopt;
        const Outbox::Failure failure =
            outbox_.failed(change, now, jitter, asked, answer.status == kGone);
        attempt.outcome = failure.outcome;
        attempt.next_try = failure.next_try;
        ++progress.failed;
        progress.expired += failure.outcome == store::AttemptOutcome::kFailed ? 1 : 0;
        progress.last_error = attempt.error;
        sentence = was_failing ? "" : "does not take notifications: " + attempt.error;
        if (failure.outcome == store::AttemptOutcome::kDisabled && progress.disabled_at == 0) {
            progress.disabled_at = now;
            progress.disabled_why =
                (answer.status == kGone ? "" : "no success for 3 days: ") + attempt.error;
            sentence = "is disabled: " + progress.disabled_why;
        }
    }
    progress.last_success = outbox_.last_success();
    progress.failing_since = outbox_.failing_since();
    attempts_.push_back(std::move(attempt));
    set_unstored(Unstored::kOutcome);
    return sentence;
}

void Served::note_read(std::uint64_t entries, std::uint64_t now) {
    row_.progress.entries = entries;
    row_.progress.looked_at = now;
    set_unstored(Unstored::kPlace);
}

store::DestinationStep Served::take_step() {
    store::DestinationStep step;
    step.id = row_.destination.id;
    step.uuid = row_.destination.uuid;
    step.revision = row_.destination.revision;
    row_.progress.failing_since = outbox_.failing_since();
    row_.progress.last_success = outbox_.last_success();
    step.progress = row_.progress;
    std::tie(step.put, step.finished) = outbox_.take_unstored();
    step.attempts = std::exchange(attempts_, {});
    step.ended_replays = std::exchange(ended_replays_, {});
    if (std::exchange(replay_moved_, false) && !replays_.empty()) {
        step.replays.push_back(replays_.front());
    }
    unstored_ = Unstored::kNothing;
    return step;
}

}  // namespace sluice::notify
