// Addresses that the server may listen on: unix sockets, and TCP on loopback for programs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/values/result.hpp"

namespace sluice::serve {

struct Address {
    std::string path;  ///< Path of a unix socket, or empty.
    bool is_v6 = false;
    std::uint16_t port = 0;
};

/// Parses `unix:/run/sluice/read.sock`, `127.0.0.1:PORT` or `[::1]:PORT`.
[[nodiscard]] Result<Address> parse_listen(std::string_view text);
/// Parses `unix:/run/sluice/people.sock`. Never TCP, because every local user could state a name.
[[nodiscard]] Result<Address> parse_people(std::string_view text);

}  // namespace sluice::serve
