// Sender lock: lets one node of a fleet send notifications at a time.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

#include "core/values/result.hpp"
#include "pg_store/connection/url.hpp"

namespace sluice::pg {

class Connection;

/// An advisory lock, held by a session of its own as long as the object lives and the session
/// answers. One thread at a time.
class SenderLock {
public:
    /// @param waiting  As of Connection.
    SenderLock(Url url, std::function<bool(std::chrono::milliseconds)> waiting);
    SenderLock(const SenderLock&) = delete;
    SenderLock& operator=(const SenderLock&) = delete;
    ~SenderLock();

    /// Takes the lock unless another session holds it, or proves that it is still held. Returns
    /// whether this object holds it. Waits for the server.
    [[nodiscard]] Result<bool> hold();

private:
    Url url_;
    std::function<bool(std::chrono::milliseconds)> waiting_;
    std::unique_ptr<Connection> session_;  ///< Holds the lock.
};

}  // namespace sluice::pg
