#include "worker/notify/fleet_lock.hpp"

#include <chrono>
#include <cstdio>
#include <utility>

#include "worker/cli/output.hpp"

namespace sluice::notify {
namespace {

constexpr std::chrono::seconds kPause{1};

}  // namespace

FleetLock::FleetLock(pg::Url url)
    : lock_(std::move(url), [this](std::chrono::milliseconds) { return !stopping_; }),
      thread_([this] { run(); }) {}

FleetLock::~FleetLock() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    stopped_.notify_all();
    thread_.join();
}

void FleetLock::run() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
        lock.unlock();
        note(lock_.hold());
        lock.lock();
        stopped_.wait_for(lock, kPause, [this] { return stopping_.load(); });
    }
    held_ = false;
}

/// Says on standard error when this node begins to send, and why it does not.
void FleetLock::note(const Result<bool>& held) {
    const bool holds = held.ok() && *held;
    const bool is_news = holds != held_ || !was_told_;
    held_ = holds;
    was_told_ = true;
    if (!is_news || stopping_) {
        return;
    }
    if (!held.ok()) {
        std::fprintf(stderr, "sluice: sends nothing, because the database does not answer: %s\n",
                     cli::printable(held.error().message).c_str());
    } else {
        std::fprintf(stderr, holds ? "sluice: this node sends the notifications\n"
                                   : "sluice: another node sends the notifications; waiting\n");
    }
}

}  // namespace sluice::notify
