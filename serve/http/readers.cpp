#include "serve/http/readers.hpp"

#include <array>
#include <cstdio>
#include <exception>
#include <utility>

#include "core/status/report.hpp"
#include "core/values/assert.hpp"
#include "os/clock/clock.hpp"
#include "program/cli/output.hpp"
#include "serve/read/http.hpp"

namespace sluice::serve {
namespace {

constexpr std::array<std::string_view, 5> kStates{"unknown", "starting", "running", "retrying",
                                                  "stopped"};

constexpr std::uint64_t kBehindMs = 300'000;  ///< Age of a waiting input.

/// Returns whether the ledger itself cannot be read. A read that took too long, that was cancelled
/// or that asked for a value which a database does not have says nothing about the next read.
bool is_unreadable(const Error& error) {
    return error.code != ErrorCode::kBusy && error.code != ErrorCode::kInvalid;
}

}  // namespace

Status Readers::start(std::size_t threads) {
    Status opened =
        assign(registry_, store::Registry::open(paths_, store::Registry::Mode::kPublished));
    const auto first = opened.ok() ? open_() : opened.error();
    if (!first.ok()) {
        return first.error();
    }
    queue_ = JobQueue(threads);
    for (std::size_t i = 0; i < threads; ++i) {
        threads_.emplace_back([this] { run(); });
    }
    return Status::success();
}

bool Readers::submit(Job job, Done done) {
    {
        const std::lock_guard lock(mutex_);
        WaitingJob waiting{std::move(job), std::move(done)};
        if (stopping_ || !queue_.push(waiting)) {
            return false;
        }
    }
    filled_.notify_one();
    return true;
}

std::chrono::milliseconds Readers::snapshot_age() {
    const std::lock_guard lock(mutex_);
    const auto age = begun_.empty() ? Clock::duration(0) : steady_now() - *begun_.begin();
    return std::chrono::duration_cast<std::chrono::milliseconds>(age);
}

void Readers::cancel() {
    *cancelled_ = true;
    std::vector<WaitingJob> left;
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        left = queue_.clear();
    }
    filled_.notify_all();
    for (const WaitingJob& one : left) {
        one.done(problem("busy"));
    }
}

void Readers::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    filled_.notify_all();
    threads_.clear();  // joins them
}

void Readers::run() {
    Source source{{open_, paths_}};
    std::unique_lock lock(mutex_);
    for (;;) {
        std::optional<WaitingJob> next;
        filled_.wait(lock, [&] {
            next = queue_.take();
            return next || (stopping_ && queue_.empty());
        });
        if (!next) {
            return;
        }
        const auto begun = begun_.insert(steady_now());
        lock.unlock();
        const AccountNumber account = next->job.grant.account;
        next->done(answer(next->job, source));
        next.reset();
        lock.lock();
        begun_.erase(begun);
        queue_.finish(account);
        filled_.notify_all();  // the account's next job may have waited for the end of this one
    }
}

/// Dead letters are rows of their node, so a snapshot without it has none. The queue itself is not
/// open to this process.
std::string Readers::own_node(Ledger& ledger) {
    std::string node;
    if (control_.worker_state() != store::WorkerState::kUnknown) {
        ledger.snapshot({})->scan_heads(
            [&](const LedgerHead& head) { node = control_.is_of(head.node) ? head.node : node; });
    }
    return node;
}

/// Never answers with an old row in place of a new one: a ledger that fails is opened again by the
/// next job.
Answer Readers::answer(const Job& job, Source& source) {
    const AssertionScope scope;
    const bool was_open = source.ledger.is_open();
    try {
        if (source.ledger.refresh() || source.node.empty()) {
            source.node = own_node(*source.ledger);
        }
        const auto snapshot = source.ledger->snapshot(source.node);
        const WorkerPage worker = worker_page(source.node);
        Answer answer = job.own ? job.own(*snapshot, worker) : build_answer(job, *snapshot, worker);
        ready_ = true;
        return answer;
    } catch (const LedgerFailure& failure) {
        std::fprintf(stderr, "sluice: the ledger cannot be read: %s\n",
                     cli::printable(failure.error().message).c_str());
        source.ledger.close();
        const bool is_lost = is_unreadable(failure.error());
        if (was_open && is_lost) {  // a connection may have been closed since the last job
            return answer(job, source);
        }
        ready_ = ready_ && !is_lost;
        return problem("ledger_unavailable");
    } catch (const std::exception& failure) {
        const std::string path(job.resource == nullptr ? "page" : job.resource->path);
        std::fprintf(stderr, "sluice: /v1/%s failed: %s\n", path.c_str(),
                     cli::printable(failure.what()).c_str());
        source.ledger.close();
        return problem("internal");
    }
}

WorkerPage Readers::worker_page(const std::string& node) {
    WorkerPage page;
    page.node = node;
    const store::WorkerState state = control_.worker_state();
    const std::uint64_t now = wall_ms(), heartbeat = control_.heartbeat_ms();
    const bool has_run = state != store::WorkerState::kUnknown;
    const bool is_silent =
        has_run && state != store::WorkerState::kStopped && now > heartbeat + kHeartbeatStaleMs;
    page.state = is_silent ? "stale" : kStates[static_cast<std::size_t>(state)];
    page.version = control_.worker_version();
    page.waiting = control_.waiting();
    // A worker that was stopped, died or hangs counts no inputs, so its silence is taken for
    // waiting ones.
    page.is_behind = (page.waiting != 0 && now > control_.queue_noted_ms() + kBehindMs) ||
                     (has_run && now > heartbeat + kBehindMs);
    page.rate_limit = rate_limit_;
    page.shops = [this](const AccountId& account) {
        const std::lock_guard lock(registry_mutex_);
        return registry_->shops(account);
    };
    return page;
}

}  // namespace sluice::serve
