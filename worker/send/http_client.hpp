// HTTP client of `sluice send`: POSTs over kept connections, several in flight.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "worker/send/limit_share.hpp"

namespace sluice::cli {

struct HttpRequest {
    std::string url;
    std::vector<std::string> headers;  ///< `Name: value`
    std::string_view body;             ///< Must live until the response arrives.
};

struct HttpResponse {
    std::uint64_t id = 0;
    long status = 0;  ///< 0 if there was no answer; `error` has the reason.
    std::string body;
    std::string error;
    std::optional<std::int64_t> retry_after_s;  ///< The answer's Retry-After.
    std::optional<RateWindow> window;           ///< The answer's X-RateLimit headers.
};

/// Checks certificates, and follows no redirects. Thread: the one that made it.
class HttpClient {
public:
    static constexpr std::size_t kResponseBytesMax = 16u << 20;

    /// @param user_agent  As sent.
    HttpClient(std::size_t connections_max, std::string user_agent);
    ~HttpClient();
    HttpClient(const HttpClient&) = delete;
    HttpClient& operator=(const HttpClient&) = delete;

    [[nodiscard]] std::size_t in_flight() const noexcept;
    /// Requires: in_flight() < connections_max.
    void start(std::uint64_t id, const HttpRequest& request);
    /// Waits up to `timeout_ms` for a response; returns those that have arrived.
    [[nodiscard]] std::vector<HttpResponse> wait(int timeout_ms);

private:
    struct Transfer;
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace sluice::cli
