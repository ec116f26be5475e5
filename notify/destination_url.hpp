// Destination URL: an address of a receiver, checked before it is stored.
#pragma once

#include <string>
#include <string_view>

#include "core/values/result.hpp"
#include "notify/ip_address.hpp"

namespace sluice::notify {

inline constexpr std::size_t kUrlBytesMax = 2048;

struct DestinationUrl {
    std::string text;  ///< As libcurl reads it: `https://127.1/` has become `https://127.0.0.1/`.
    std::string host;  ///< Without brackets.
    bool is_encrypted = true;
};

/// Parses an https URL, or an http URL if the judge allows any block. Refuses a user name, a
/// password, a fragment, a zone, port 0, a name that is not ASCII, and a host that is an address
/// which the judge refuses. A name is judged at each connection. Errors do not repeat the URL,
/// because its path may be a secret.
[[nodiscard]] Result<DestinationUrl> parse_destination_url(std::string_view text,
                                                           const AddressJudge& judge);
/// Returns host and port of a URL that parse_destination_url() returned: what may be listed,
/// because the path may be a secret.
[[nodiscard]] std::string host_of_url(std::string_view url);

}  // namespace sluice::notify
