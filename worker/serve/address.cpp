#include "worker/serve/address.hpp"

#include <sys/un.h>

#include "worker/cli/cli_values.hpp"

namespace sluice::serve {
namespace {

constexpr std::string_view kUnix = "unix:";

Result<Address> parse_unix(std::string_view text) {
    Address address;
    address.path = std::string(text.substr(kUnix.size()));
    if (!address.path.starts_with('/') || address.path.size() >= sizeof(sockaddr_un::sun_path)) {
        return Error{ErrorCode::kInvalid,
                     "expected unix: and an absolute path of at most 107 bytes"};
    }
    return address;
}

}  // namespace

Result<Address> parse_listen(std::string_view text) {
    if (text.starts_with(kUnix)) {
        return parse_unix(text);
    }
    for (const std::string_view host : {"127.0.0.1:", "[::1]:"}) {
        if (text.starts_with(host)) {
            const auto port = cli::parse_count(text.substr(host.size()), 1, 65'535);
            if (!port.ok()) {
                return port.error();
            }
            Address address;
            address.is_v6 = host.front() == '[';
            address.port = static_cast<std::uint16_t>(*port);
            return address;
        }
    }
    return Error{ErrorCode::kInvalid,
                 "expected unix:/path, 127.0.0.1:PORT or [::1]:PORT: other machines come through "
                 "nginx"};
}

Result<Address> parse_people(std::string_view text) {
    if (!text.starts_with(kUnix)) {
        return Error{ErrorCode::kInvalid, "expected unix:/path"};
    }
    return parse_unix(text);
}

}  // namespace sluice::serve
