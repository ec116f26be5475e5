#include "ngx_module/offload/offload.hpp"

#include <new>
#include <optional>
#include <utility>

namespace sluice::ngx {
namespace {

constexpr ngx_msec_t kIdleMs = 5'000;
/// Retry interval while other modules fill the pool, because nginx does not report when their tasks
/// end.
constexpr ngx_msec_t kRetryMs = 100;

}  // namespace

Offload::Offload(ngx_thread_pool_t* pool, std::uint64_t memory_max, ngx_log_t* log) noexcept
    : pool_(pool), log_(log), memory_max_(memory_max) {
    bind_event<&Offload::trim_idle>(idle_timer_, ident_, this, log);
    idle_timer_.cancelable = 1;
    // Not cancelable, because a quitting process completes queued jobs.
    bind_event<&Offload::post_queued>(retry_timer_, ident_, this, log);
}

Offload::~Offload() {
    if (idle_timer_.timer_set) {
        ngx_del_timer(&idle_timer_);
    }
    if (retry_timer_.timer_set) {
        ngx_del_timer(&retry_timer_);
    }
}

bool Offload::start(OffloadJob& job, std::uint64_t bytes) noexcept {
    if (bytes > memory_max_ - memory_used_ || !post(job)) {
        return false;
    }
    memory_used_ += bytes;
    job.bytes = bytes;
    return true;
}

bool Offload::post(OffloadJob& job) noexcept {
    job.offload = this;
    job.task = {};
    bind_task<&Offload::run, &Offload::on_completed>(job.task, job.ident, &job,
                                                     "checking a large body", log_);
    if (ngx_thread_task_post(pool_, &job.task) != NGX_OK) {
        return false;
    }
    ++tasks_;
    // Not cancelable, because before it exits, nginx waits for timers but not for tasks.
    ngx_add_timer(&job.task.event, kHangMs);
    return true;
}

void Offload::enqueue(OffloadJob& job) noexcept {
    job.next = nullptr;
    *queue_end_ = &job;
    queue_end_ = &job.next;
    post_queued();
}

void Offload::discard(store::BulkFile file) noexcept {
    struct Discard : OffloadJob {
        explicit Discard(store::BulkFile removed) noexcept : file(std::move(removed)) {}
        std::optional<store::BulkFile> file;
    };
    const bool ends_now = ngx_terminate != 0 || ngx_quit != 0;  // the pool is gone
    auto* const job = ends_now ? nullptr : new (std::nothrow) Discard(std::move(file));
    if (job == nullptr) {
        return;  // `file` removes the file
    }
    job->run = [](OffloadJob& done, ngx_log_t*) noexcept {
        static_cast<Discard&>(done).file.reset();
    };
    job->completed = [](OffloadJob& done) noexcept { delete &static_cast<Discard&>(done); };
    enqueue(*job);
}

void Offload::post_queued() noexcept {
    while (queue_first_ != nullptr && from_queue_ < kFromQueueMax && !retry_timer_.timer_set) {
        OffloadJob& job = *queue_first_;
        if (!post(job)) {
            ngx_add_timer(&retry_timer_, kRetryMs);
            return;
        }
        job.is_from_queue = true;
        ++from_queue_;
        queue_first_ = job.next;
        if (queue_first_ == nullptr) {
            queue_end_ = &queue_first_;
        }
    }
}

void Offload::release_memory(OffloadJob& job) noexcept {
    memory_used_ -= std::exchange(job.bytes, 0);
}

void Offload::on_completed(OffloadJob& job) noexcept {
    Offload& offload = *job.offload;
    --offload.tasks_;
    ngx_add_timer(&offload.idle_timer_, kIdleMs);
    if (std::exchange(job.is_from_queue, false)) {
        --offload.from_queue_;
        offload.post_queued();
    }
    job.completed(job);
}

void Offload::trim_idle() noexcept {
    const std::lock_guard lock(mutex_);
    for (const std::unique_ptr<IntakeScratch>& scratch : idle_) {
        scratch->trim();
    }
}

std::unique_ptr<IntakeScratch> Offload::borrow() {
    {
        const std::lock_guard lock(mutex_);
        if (!idle_.empty()) {
            std::unique_ptr<IntakeScratch> scratch = std::move(idle_.back());
            idle_.pop_back();
            return scratch;
        }
    }
    return std::make_unique<IntakeScratch>();
}

void Offload::give_back(std::unique_ptr<IntakeScratch> scratch) noexcept {
    try {
        const std::lock_guard lock(mutex_);
        idle_.push_back(std::move(scratch));
    } catch (...) {
        // Without memory to keep it, the next borrow() makes another one.
    }
}

}  // namespace sluice::ngx
