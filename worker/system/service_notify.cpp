#include "worker/system/service_notify.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "os/files/file_io.hpp"

namespace sluice::cli {

void notify_service(std::string_view state) noexcept {
    const char* const path = std::getenv("NOTIFY_SOCKET");
    if (path == nullptr) {
        return;
    }
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::size_t bytes = std::strlen(path);
    if (bytes < 2 || bytes >= sizeof(address.sun_path) || (*path != '/' && *path != '@')) {
        return;
    }
    std::memcpy(address.sun_path, path, bytes);
    if (*path == '@') {
        address.sun_path[0] = '\0';  // the abstract namespace
    }
    const Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (socket.ok()) {
        // If a sign of life is lost, the next one follows soon.
        (void)::sendto(socket.get(), state.data(), state.size(), MSG_NOSIGNAL,
                       reinterpret_cast<const sockaddr*>(&address),
                       static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + bytes));
    }
}

}  // namespace sluice::cli
