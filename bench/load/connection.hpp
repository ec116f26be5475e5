// One keep-alive HTTP/1.1 connection that sends prepared requests and reads their answers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::bench {

struct ReadResult {
    bool complete = false;  ///< One whole answer was read; `status` is set.
    bool closed = false;    ///< The peer closed or an error happened.
    int status = 0;
};

/// Non-blocking. Not thread-safe. Owns its socket.
class Connection {
public:
    Connection(const std::string& host, std::uint16_t port);
    ~Connection();
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    /// Connects (blocking, loopback) and goes non-blocking. False on failure.
    bool open();
    [[nodiscard]] int fd() const noexcept { return fd_; }

    /// Begins to send; `request` must stay alive until the answer is complete.
    /// @return false on a broken connection.
    bool send(std::string_view request);
    /// Continues to send after EPOLLOUT.
    bool flush();
    [[nodiscard]] bool wants_write() const noexcept { return !unsent_.empty(); }
    ReadResult receive();

private:
    [[nodiscard]] ReadResult parse() noexcept;

    std::string host_;
    std::uint16_t port_;
    int fd_ = -1;
    std::string_view unsent_;
    std::size_t received_ = 0;
    char buffer_[16384];
};

}  // namespace sluice::bench
