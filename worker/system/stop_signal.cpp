#include "worker/system/stop_signal.hpp"

#include <csignal>

namespace sluice::cli {
namespace {

std::atomic<bool> stop_requested{false};
static_assert(std::atomic<bool>::is_always_lock_free, "set from a signal handler");

extern "C" void on_stop_signal(int /*signal*/) {
    stop_requested = true;
}

}  // namespace

const std::atomic<bool>& catch_stop_signals() {
    struct sigaction action {};
    action.sa_handler = on_stop_signal;
    sigemptyset(&action.sa_mask);
    for (const int signal : {SIGINT, SIGTERM}) {
        sigaction(signal, &action, nullptr);
    }
    return stop_requested;
}

}  // namespace sluice::cli
