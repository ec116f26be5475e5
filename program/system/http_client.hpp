// HTTP client of `sluice send` and `sluice notify`: POSTs over kept connections, several in flight.
#pragma once

#include <sys/socket.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::cli {

/// X-RateLimit-Limit, -Remaining, -Reset of one answer.
struct RateWindow {
    std::uint64_t limit = 0;      ///< Requests in a window.
    std::uint64_t remaining = 0;  ///< For all that the account's tokens sign.
    std::int64_t reset = 0;       ///< Seconds since the epoch, by the server's clock.
    std::int64_t resets_in = 0;   ///< Seconds from the answer on, 0 or more.
};

/// Returns why a connection to an address must not be opened, or an empty text.
using AddressCheck = std::function<std::string(const sockaddr* address, socklen_t bytes)>;

struct HttpRequest {
    std::string url;
    std::vector<std::string> headers;  ///< `Name: value`
    std::string_view body;             ///< Must live until the response arrives.
    AddressCheck check_address = {};   ///< Called for each connection, unless it is empty.
    /// Uses a connection of another request, and leaves its own to others.
    bool shares_connections = true;
};

/// Limits of a client's requests.
struct HttpLimits {
    long connect_seconds = 10, transfer_seconds = 120;
    std::size_t response_bytes_max = 16U << 20;
    /// A longer response is an error, or else it is cut off.
    bool refuses_longer = true;
    bool uses_proxy = true;  ///< The proxy that the environment names.
    std::string ca_file;     ///< Certificates that are trusted instead of the system's.
};

struct HttpResponse {
    std::uint64_t id = 0;
    long status = 0;  ///< 0 if there was no answer; `error` has the reason.
    std::string body;
    std::string error;
    std::optional<std::int64_t> retry_after_s;  ///< The answer's Retry-After.
    std::optional<RateWindow> window;           ///< The answer's X-RateLimit headers.
    std::chrono::milliseconds took{0};
};

/// Checks certificates, and follows no redirects. Thread: the one that made it.
class HttpClient {
public:
    /// @param user_agent  As sent.
    HttpClient(std::size_t connections_max, std::string user_agent, HttpLimits limits = {});
    ~HttpClient();
    HttpClient(const HttpClient&) = delete;
    HttpClient& operator=(const HttpClient&) = delete;

    [[nodiscard]] std::size_t in_flight() const noexcept;
    /// Requires: in_flight() < connections_max.
    void start(std::uint64_t id, const HttpRequest& request);
    /// Waits up to `timeout_ms` for a response; returns those that have arrived.
    [[nodiscard]] std::vector<HttpResponse> wait(int timeout_ms);
    /// Ends a wait() of the client's thread, or the next one. Called on any thread.
    void wake() noexcept;

private:
    struct Transfer;
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace sluice::cli
