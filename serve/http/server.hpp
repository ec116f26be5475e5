// Server: sockets and HTTP, on one thread. Only server.cpp includes Asio and Beast.
#pragma once

#include <vector>

#include "core/values/result.hpp"
#include "serve/http/gate.hpp"
#include "serve/http/mounts.hpp"
#include "serve/http/readers.hpp"
#include "serve/http/socket_files.hpp"
#include "worker/access/chain_watch.hpp"

namespace sluice::serve {

/// Binds the sockets, tells the service manager that it is ready, and serves until SIGTERM or
/// SIGINT; requests under way are answered first. A unix socket whose process is gone is replaced.
/// Returns an error if a socket cannot be bound or a mount was lost.
[[nodiscard]] Status run_server(Gate& front, Readers& readers, cli::ChainWatch& watch,
                                Mounts mounts, const std::vector<Listener>& listeners,
                                const SocketGroups& groups);

}  // namespace sluice::serve
