// Servers: the addresses behind a URL, in the order in which they are asked. Internal to pg_store.
//
// libpq tries several hosts by itself, but not with a limit for each when it is driven without
// blocking: one silent host would hold it until the kernel gives up. So each address is an attempt
// of its own, with all of the time that an attempt has.
#pragma once

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "core/values/result.hpp"
#include "pg_store/connection/url.hpp"

namespace sluice::pg {

/// Keywords of libpq and their values.
using Parameters = std::vector<std::pair<std::string, std::string>>;

/// One host of a URL, as libpq understands it together with service file and environment.
struct Server {
    std::string host;  ///< Name, address or folder of a Unix socket; empty means libpq's default.
    std::string address;  ///< `hostaddr`; empty means that the name is resolved.
    std::string port;     ///< Empty means 5432.
};

struct Servers {
    std::vector<Server> all;  ///< At least one.
    /// The settings that all attempts have in common, with defaults for those missing in the URL.
    Parameters common{};
    /// `target_session_attrs`; default `any`.
    std::string wanted;
    std::chrono::seconds patience{};  ///< For each address: 1 to 25 s.
};

/// Returns kInvalid if libpq rejects the URL. The message names the mistake, never a password.
[[nodiscard]] Result<Servers> servers_of(const Url& url);

/// Resolves the addresses of one server. Returns kIo if the name cannot be resolved. Blocks as long
/// as the system's resolver does.
[[nodiscard]] Result<std::vector<Server>> addresses_of(const Server& server);

/// Returns libpq's parameters: `common`, and this address alone.
[[nodiscard]] Parameters parameters_of(const Servers& servers, const Server& address);

/// Returns `server at "db1" (10.0.0.1), port 5432`
[[nodiscard]] std::string shown(const Server& address);

}  // namespace sluice::pg
