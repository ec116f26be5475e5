// Fleet lock: keeps the sender lock of a PostgreSQL ledger on a thread of its own, because the
// database may answer late.
#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "pg_store/ledger/sender_lock.hpp"

namespace sluice::notify {

class FleetLock {
public:
    explicit FleetLock(pg::Url url);
    FleetLock(const FleetLock&) = delete;
    FleetLock& operator=(const FleetLock&) = delete;
    ~FleetLock();

    /// Returns whether this node may send. Any thread.
    [[nodiscard]] bool is_held() const noexcept { return held_.load(); }

private:
    void run();
    void note(const Result<bool>& held);

    std::atomic<bool> held_ = false;
    std::atomic<bool> stopping_ = false;
    std::mutex mutex_;
    std::condition_variable stopped_;
    bool was_told_ = false;
    pg::SenderLock lock_;
    std::thread thread_;
};

}  // namespace sluice::notify
