// Server: sockets and HTTP, on one thread. Only server.cpp includes Asio and Beast.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/values/result.hpp"
#include "worker/access/chain_watch.hpp"
#include "worker/serve/front.hpp"
#include "worker/serve/mounts.hpp"
#include "worker/serve/readers.hpp"
#include "worker/serve/socket_files.hpp"

namespace sluice::serve {

/// An address to listen on: a unix socket, or TCP on loopback.
struct Listener {
    std::string path;  ///< Path of a unix socket, or empty.
    bool is_v6 = false;
    std::uint16_t port = 0;
    Door door = Door::kTokens;
};

class Server {
public:
    /// @param front, readers, watch  Must outlive the server.
    Server(Front& front, Readers& readers, cli::ChainWatch& watch, Mounts mounts);
    ~Server();

    /// Binds a socket. A unix socket whose process is gone is replaced.
    [[nodiscard]] Status listen(const Listener& listener, const SocketGroups& groups);
    /// Serves until SIGTERM or SIGINT; requests under way are answered first. Returns an error if
    /// a mount was lost.
    [[nodiscard]] Status run();

private:
    class Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace sluice::serve
