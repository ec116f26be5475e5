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
    std::string_view body;             ///< Must live until the response came.
};

struct HttpResponse {
    std::uint64_t id = 0;
    long status = 0;  ///< 0: there was no answer; `error` says why.
    std::string body;
    std::string error;
    std::optional<std::int64_t> retry_after_s;  ///< As the answer's Retry-After says.
    std::optional<RateWindow> window;           ///< As its X-RateLimit headers say.
};

/// Certificates are checked, redirects are not followed. Thread: the one that made it.
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
    /// Waits up to `timeout_ms` for something to happen; returns what has ended.
    [[nodiscard]] std::vector<HttpResponse> wait(int timeout_ms);

private:
    struct Transfer;
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace sluice::cli
