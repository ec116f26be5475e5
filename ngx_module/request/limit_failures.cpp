// The limit of requests that fail to authenticate, by address (sluice_failure_limit).
//
// A request is counted here only after it failed, so that a sender who signs correctly pays nothing
// for it, and is not limited by what others send from its address.
#include <netinet/in.h>

#include <optional>
#include <string_view>

#include "core/intake/rate_window.hpp"
#include "core/values/crc32c.hpp"
#include "ngx_module/nginx/event_loop.hpp"
#include "ngx_module/nginx/ngx_api.hpp"
#include "ngx_module/request/stages.hpp"

namespace sluice::ngx {
namespace {

std::string_view bytes_of(const void* address, std::size_t bytes) noexcept {
    return {static_cast<const char*>(address), bytes};
}

/// Returns the part of the client's address that one sender does not choose: an IPv4 address, the
/// /64 network of an IPv6 address, or nothing for a Unix socket, whose clients share one window.
std::string_view network_of(const sockaddr* address) noexcept {
    constexpr std::size_t kNetworkBytes = 8;
    if (address->sa_family == AF_INET) {
        const auto* v4 = reinterpret_cast<const sockaddr_in*>(address);
        return bytes_of(&v4->sin_addr, sizeof(v4->sin_addr));
    }
    if (address->sa_family == AF_INET6) {
        const auto* v6 = reinterpret_cast<const sockaddr_in6*>(address);
        const auto* bytes = v6->sin6_addr.s6_addr;
        return IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr) ? bytes_of(bytes + 12, 4)
                                                    : bytes_of(bytes, kNetworkBytes);
    }
    return {};
}

/// Returns nothing if the key that is configured is empty, which exempts the request.
std::optional<std::string_view> key_of(ngx_http_request_t* r, const MainConf& conf) noexcept {
    if (conf.failure_key == nullptr) {
        return network_of(r->connection->sockaddr);
    }
    ngx_str_t value;
    if (ngx_http_complex_value(r, conf.failure_key, &value) != NGX_OK || value.len == 0) {
        return std::nullopt;
    }
    return to_view(value);
}

}  // namespace

void limit_failures(IngestRequest& request) noexcept {
    const MainConf& conf = request.tools.conf;
    if (conf.failure_requests == 0 || request.refused_before ||
        !is_authentication_failure(request.answer->outcome)) {
        return;
    }
    const std::optional<std::string_view> key = key_of(request.r, conf);
    if (!key) {
        return;
    }
    const RateLimit limit{static_cast<std::uint32_t>(conf.failure_requests),
                          static_cast<std::uint32_t>(conf.failure_window_seconds)};
    const RateVerdict verdict =
        count_request(conf.zone_view.failures->of(crc32c(0, *key)), limit, loop_time().seconds);
    if (!verdict.allowed) {
        request.answer = address_limited(request.endpoint(), verdict.retry_after);
    }
}

}  // namespace sluice::ngx
