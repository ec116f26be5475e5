// Service notify: tells systemd that the worker is ready, alive, stopping (Type=notify), without
// linking libsystemd: the protocol is one datagram to the socket in NOTIFY_SOCKET.
#pragma once

#include <string_view>

namespace sluice::cli {

/// `READY=1`, `WATCHDOG=1`, `STOPPING=1`, `STATUS=...`. Does nothing without NOTIFY_SOCKET;
/// never blocks.
void notify_service(std::string_view state) noexcept;

}  // namespace sluice::cli
