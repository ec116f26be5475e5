#include "connection.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace sluice::bench {

Connection::Connection(const std::string& host, std::uint16_t port) : host_(host), port_(port) {}

Connection::~Connection() {
    if (fd_ >= 0) {
        close(fd_);
    }
}

bool Connection::open() {
    if (fd_ >= 0) {
        close(fd_);
    }
    received_ = 0;
    unsent_ = {};
    fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd_ < 0) {
        return false;
    }
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port_);
    if (inet_pton(AF_INET, host_.c_str(), &address.sin_addr) != 1 ||
        connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
        return false;
    }
    const int on = 1;
    setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    return fcntl(fd_, F_SETFL, O_NONBLOCK) == 0;
}

bool Connection::send(std::string_view request) {
    unsent_ = request;
    return flush();
}

bool Connection::flush() {
    while (!unsent_.empty()) {
        const ssize_t sent = ::send(fd_, unsent_.data(), unsent_.size(), MSG_NOSIGNAL);
        if (sent < 0) {
            return errno == EAGAIN || errno == EINTR;
        }
        unsent_.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
}

ReadResult Connection::receive() {
    const ssize_t got = recv(fd_, buffer_ + received_, sizeof(buffer_) - received_, 0);
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
        return {.complete = false, .closed = true, .status = 0};
    }
    if (got < 0) {
        return {};
    }
    received_ += static_cast<std::size_t>(got);
    return parse();
}

ReadResult Connection::parse() noexcept {
    const std::string_view answer(buffer_, received_);
    const std::size_t head_end = answer.find("\r\n\r\n");
    if (head_end == std::string_view::npos) {
        return {.complete = false, .closed = received_ == sizeof(buffer_), .status = 0};
    }
    ReadResult result;
    std::from_chars(answer.data() + 9, answer.data() + 12, result.status);
    std::size_t body_bytes = 0;
    static constexpr std::string_view kLength = "\r\nContent-Length: ";
    const std::size_t length_at = answer.substr(0, head_end).find(kLength);
    if (length_at != std::string_view::npos) {
        std::from_chars(answer.data() + length_at + kLength.size(), answer.data() + head_end,
                        body_bytes);
    }
    result.complete = received_ >= head_end + 4 + body_bytes;
    if (result.complete) {
        result.closed =
            answer.substr(0, head_end).find("\r\nConnection: close") != std::string_view::npos;
        received_ = 0;
    }
    return result;
}

}  // namespace sluice::bench
