// Sockets: the addresses to listen on, and the files of unix sockets that this process made, who
// may connect to them, and their removal.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/values/result.hpp"
#include "serve/read/http.hpp"

namespace sluice::serve {

/// An address to listen on: a unix socket, or TCP on loopback.
struct Listener {
    std::string path;  ///< Path of a unix socket, or empty.
    bool is_v6 = false;
    std::uint16_t port = 0;
    Door door = Door::kTokens;
};

/// Groups that a unix socket may be given to, so that nginx may connect: the first that is
/// possible.
using SocketGroups = std::vector<unsigned>;

class SocketFiles {
public:
    /// Removes a socket of which the process is gone.
    /// @param is_answered  Whether a process listens there.
    [[nodiscard]] static Status make_room(const std::string& path, bool is_answered);
    /// Notes a socket that was just bound, and gives it to a group.
    [[nodiscard]] Status add(const std::string& path, const SocketGroups& groups);
    /// Removes the sockets, unless another took the place of one. Requires: the process still
    /// listens on them, because another server takes a path only after that.
    void remove();

private:
    struct File {
        std::string path;
        dev_t device = 0;
        ino_t inode = 0;
    };

    std::vector<File> files_;
};

}  // namespace sluice::serve
