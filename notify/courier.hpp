// Courier: a notification as an HTTP request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "notify/feed_reader.hpp"
#include "notify/ip_address.hpp"
#include "notify/signing.hpp"
#include "program/system/http_client.hpp"

namespace sluice::notify {

/// Returns a client that follows no redirect, uses no proxy, waits 15 s for an answer, and reads no
/// more than 64 KB of it.
/// @param ca_file  As in HttpLimits.
[[nodiscard]] std::unique_ptr<cli::HttpClient> make_client(std::size_t requests,
                                                           const std::string& ca_file);
/// @param notice  Must live until the response arrives.
/// @param now     Milliseconds since 1970, for the signature.
[[nodiscard]] cli::HttpRequest request_of(const store::Destination& destination,
                                          const OpenedSecrets& secrets, const AddressJudge& judge,
                                          const Notice& notice, std::uint64_t now);

}  // namespace sluice::notify
