#include "ngx_module/links/click_buffer.hpp"

#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <utility>

#include "core/protocol/click_record.hpp"

namespace sluice::ngx {
namespace {

Timestamp instant_of(std::uint64_t wall_ms) noexcept {
    return {static_cast<std::int64_t>(wall_ms / 1000),
            static_cast<std::uint32_t>(wall_ms % 1000) * 1'000'000U};
}

}  // namespace

struct ClickBuffer::Rows {
    std::string account_id;
    std::vector<RecordedClick> clicks;
};

ClickBuffer::ClickBuffer(const MainConf& conf, GroupCommit& commits, StoreLink& store,
                         MetricsBlock& metrics, ngx_log_t* log)
    : conf_(conf),
      commits_(commits),
      store_(store),
      metrics_(metrics),
      log_(log),
      ring_(conf.link_locations != 0 ? conf.click_buffer : 0) {
    // Not cancelable, because a quitting process writes its clicks.
    bind_event<&ClickBuffer::on_flush>(flush_timer_, ident_, this, log);
    held_.reserve(kSnapshotsMax);
    if (conf.link_locations != 0) {
        claim_figure();
    }
}

/// The clicks that a fast stop leaves are lost, as by a kill.
ClickBuffer::~ClickBuffer() {
    if (flush_timer_.timer_set) {
        ngx_del_timer(&flush_timer_);
    }
    lose(ring_.size());
    if (figure_ != nullptr) {
        figure_->clicks.store(0, std::memory_order_relaxed);
        figure_->pid.store(0, std::memory_order_relaxed);
    }
}

/// Takes the figure of a process that ended. What a killed one had in it is gone.
void ClickBuffer::claim_figure() noexcept {
    const auto own = static_cast<std::uint64_t>(ngx_pid);
    for (ClickBufferFigure& figure : metrics_.click_buffers) {
        std::uint64_t pid = figure.pid.load(std::memory_order_relaxed);
        const bool is_free =
            pid == 0 || (::kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH);
        if (is_free && figure.pid.compare_exchange_strong(pid, own)) {
            figure_ = &figure;
            figure.clicks.store(0, std::memory_order_relaxed);
            return;
        }
    }
}

void ClickBuffer::show_size() noexcept {
    if (figure_ != nullptr) {
        figure_->clicks.store(ring_.size() + clicks_in_flight_, std::memory_order_relaxed);
    }
}

// -- Taking ---------------------------------------------------------------------------------------

/// Returns whether clicks may be taken: while the store is opened, as far as the ring goes.
bool ClickBuffer::is_open() noexcept {
    store::Queue* const queue = store_.queue();
    return queue == nullptr || (!queue->is_half_full() && !queue->closed_reason());
}

bool ClickBuffer::add(const LinkSnapshotPtr& links, const PublishedLink& link,
                      const Digest256& device) noexcept {
    const bool is_newest = !held_.empty() && held_.back()->links == links->links;
    if (!is_open() || (!is_newest && held_.size() == kSnapshotsMax) ||
        !ring_.push({device, loop_wall_ms(), &link})) {
        return false;
    }
    if (!is_newest) {
        held_.push_back(links);  // has the room
    }
    show_size();
    set_timer();
    return true;
}

// -- Writing --------------------------------------------------------------------------------------

void ClickBuffer::set_timer() noexcept {
    if (!flush_timer_.timer_set && !ring_.empty()) {
        ngx_add_timer(&flush_timer_, conf_.click_flush_ms);
    }
}

void ClickBuffer::on_store_open(StoreWaiter& waiter) noexcept {
    auto& buffer = *static_cast<ClickBuffer*>(waiter.owner);
    buffer.waits_for_store_ = false;
    buffer.on_flush();
}

void ClickBuffer::on_flush() noexcept {
    if (ring_.empty() || waits_for_store_) {
        return;
    }
    if (store_.queue() == nullptr) {
        store_waiter_.owner = this;
        store_waiter_.resumed = &ClickBuffer::on_store_open;
        waits_for_store_ = store_.wait(store_waiter_);
        if (waits_for_store_) {
            return;
        }
        if (ngx_exiting != 0) {  // it would wait for ever
            lose(ring_.take(ring_.size(), [](const BufferedClick&) {}));
            held_.clear();
        }
    }
    write();
    set_timer();
}

bool ClickBuffer::may_write() noexcept {
    if (is_writing_ || in_flight_ != 0 || store_.queue() == nullptr) {
        return false;
    }
    return ngx_exiting != 0 || is_open();
}

void ClickBuffer::write() noexcept {
    if (!may_write()) {
        return;
    }
    is_writing_ = true;
    std::size_t left = std::min(ring_.size(), kWrittenAtOnce);
    guarded(log_, [&] {
        std::map<std::uint32_t, Rows> by_account;
        ring_.take(kWrittenAtOnce, [&](const BufferedClick& click) {
            Rows& rows = by_account[click.link->account.value];
            if (rows.clicks.empty()) {
                const store::LinkAccount* const account = held_.back()->account_of(*click.link);
                rows.account_id = account != nullptr ? account->id.str() : std::string();
            }
            rows.clicks.push_back(
                {click.device, instant_of(click.at_ms), LinkId(click.link->id), {}, {}});
        });
        for (const auto& [account, rows] : by_account) {
            write_rows(account, rows, left);
        }
    });
    lose(left);  // without memory
    if (ring_.empty()) {
        held_.clear();
    }
    is_writing_ = false;
    show_size();
}

ClickBuffer::Record& ClickBuffer::idle_record() {
    if (idle_ != nullptr) {
        return *std::exchange(idle_, idle_->next_idle);
    }
    records_.push_back(std::make_unique<Record>());
    Record& record = *records_.back();
    record.buffer = this;
    record.completed = &ClickBuffer::on_stored;
    return record;
}

/// @param left  Clicks that were not handed over yet.
void ClickBuffer::write_rows(std::uint32_t account, const Rows& rows, std::size_t& left) {
    for (std::size_t at = 0; at < rows.clicks.size(); at += kRecordClicksMax) {
        const std::size_t count = std::min(kRecordClicksMax, rows.clicks.size() - at);
        const auto first = rows.clicks.begin() + static_cast<std::ptrdiff_t>(at);
        Record& record = idle_record();
        record.clicks = count;
        record.body = encode_clicks(
            {ClickSource::kLink, {first, first + static_cast<std::ptrdiff_t>(count)}});
        RecordMeta meta;
        meta.topic = Topic::kClick;
        meta.account_number = {account};
        meta.account_id = rows.account_id;
        meta.received_at = loop_time();
        meta.records_count = static_cast<std::uint32_t>(count);
        record.envelope.encode(meta, record.body);
        record.item = {};
        record.item.prefix = record.envelope.prefix();
        record.item.body = record.body;
        record.item.received_at = meta.received_at;
        ++in_flight_;
        clicks_in_flight_ += count;
        left -= count;
        if (!commits_.join(record)) {
            record.item.outcome = store::AppendOutcome::kUnavailable;
            stored(record);
        }
    }
}

void ClickBuffer::on_stored(CommitJob& job) noexcept {
    auto& record = static_cast<Record&>(job);
    record.buffer->stored(record);
}

void ClickBuffer::stored(Record& record) noexcept {
    --in_flight_;
    clicks_in_flight_ -= record.clicks;
    if (record.item.outcome != store::AppendOutcome::kStored) {
        lose(record.clicks);
    }
    record.next_idle = std::exchange(idle_, &record);
    if (in_flight_ == 0 && ring_.size() >= kWrittenAtOnce) {
        write();  // more came than leaves with each flush
    }
    show_size();
    set_timer();
    store_.request_ended();  // a process that shuts down may be idle now
}

void ClickBuffer::lose(std::size_t clicks) noexcept {
    if (clicks == 0) {
        return;
    }
    metrics_.clicks_lost.fetch_add(clicks, std::memory_order_relaxed);
    if (loss_told_.allow()) {
        ngx_log_error(NGX_LOG_ERR, log_, 0,
                      "sluice: %uz counted clicks of links could not be written and are lost",
                      clicks);
    }
}

}  // namespace sluice::ngx
