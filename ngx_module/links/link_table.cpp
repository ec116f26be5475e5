#include "ngx_module/links/link_table.hpp"

#include <utility>

namespace sluice::ngx {

LinkTable::LinkTable(const store::StorePaths& paths, Offload& offload, ngx_log_t* log)
    : paths_(paths), offload_(offload), log_(log) {
    bind_event<&LinkTable::on_timer>(timer_, ident_, this, log);
    timer_.cancelable = 1;  // a quitting process does not wait for the timer
    job_.owner = this;
    job_.run = &LinkTable::run;
    job_.completed = &LinkTable::on_read;
}

LinkTable::~LinkTable() {
    if (timer_.timer_set) {
        ngx_del_timer(&timer_);
    }
}

void LinkTable::start() noexcept {
    begin();
    ngx_add_timer(&timer_, kLookEveryMs);
}

const LinkSnapshotPtr& LinkTable::current() noexcept {
    const bool is_outdated = snapshot_ == nullptr || !reader_->is_current(*snapshot_);
    if (is_outdated && loop_ms() - began_ms_ >= kReadEveryMs) {
        begin();
    }
    return snapshot_;
}

bool LinkTable::wait(LinkWaiter& waiter) noexcept {
    if (!is_reading_) {
        return false;
    }
    if (waiting_ == nullptr) {
        waiting_since_ms_ = loop_ms();
    }
    waiter.next = waiting_;
    waiting_ = &waiter;
    return true;
}

/// The thread also notices a page that was replaced, so it looks in any case.
void LinkTable::on_timer() noexcept {
    if (waiting_ != nullptr && loop_ms() - waiting_since_ms_ >= kWaitMaxMs) {
        resume_all();
    }
    begin();
    ngx_add_timer(&timer_, kLookEveryMs);
}

void LinkTable::begin() noexcept {
    if (is_reading_) {
        return;
    }
    const bool prepared = guarded(log_, false, [&] {
        reading_ = std::make_unique<Reading>();
        reading_->snapshot = snapshot_;
        reading_->outdated = std::move(outdated_);
        return true;
    });
    if (!prepared) {
        return;  // the timer tries again
    }
    began_ms_ = loop_ms();
    is_reading_ = true;
    offload_.enqueue(job_);
}

/// Runs on the pool's thread.
void LinkTable::run(OffloadJob& job, ngx_log_t* log) noexcept {
    auto& table = *static_cast<LinkTable*>(job.owner);
    Reading& reading = *table.reading_;
    reading.outdated.reset();
    const bool is_done = guarded(log, false, [&] {
        read(table.paths_, reading);
        return true;
    });
    if (!is_done) {
        reading.snapshot.reset();
    }
}

void LinkTable::read(const store::StorePaths& paths, Reading& reading) {
    Result<store::LinkReader> opened = store::LinkReader::open(paths);
    if (!opened) {
        reading.problem = opened.error().message;
        return;
    }
    reading.reader.emplace(std::move(*opened));
    if (reading.snapshot != nullptr && reading.reader->is_current(*reading.snapshot)) {
        return;
    }
    const auto before = reading.snapshot != nullptr ? std::optional(*reading.snapshot)
                                                    : std::optional<store::LinkSnapshot>();
    Result<store::LinkSnapshot> snapshot = reading.reader->read(before);
    if (snapshot) {
        reading.snapshot = std::make_shared<const store::LinkSnapshot>(std::move(*snapshot));
    } else if (snapshot.error().code != ErrorCode::kNotFound) {  // nothing is published yet
        reading.problem = snapshot.error().message;
    }
}

void LinkTable::on_read(OffloadJob& job) noexcept {
    static_cast<LinkTable*>(job.owner)->done();
}

void LinkTable::done() noexcept {
    is_reading_ = false;
    if (reading_->reader) {
        reader_ = std::move(reading_->reader);
    }
    if (reading_->snapshot != nullptr && reading_->snapshot != snapshot_) {
        outdated_ = std::exchange(snapshot_, std::move(reading_->snapshot));
    }
    if (reading_->problem != problem_) {
        problem_ = std::move(reading_->problem);
        if (!problem_.empty()) {
            ngx_log_error(NGX_LOG_ERR, log_, 0, "sluice: links: %s", problem_.c_str());
        } else {
            ngx_log_error(NGX_LOG_NOTICE, log_, 0, "sluice: the published links are served");
        }
    }
    reading_.reset();
    resume_all();
}

void LinkTable::resume_all() noexcept {
    for (LinkWaiter* waiter = std::exchange(waiting_, nullptr); waiter != nullptr;) {
        LinkWaiter* const next = waiter->next;
        waiter->resumed(*waiter);
        waiter = next;
    }
}

}  // namespace sluice::ngx
