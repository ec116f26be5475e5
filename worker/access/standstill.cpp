#include "worker/access/standstill.hpp"

#include <cstdint>
#include <cstdio>

#include "core/values/timestamp.hpp"
#include "lmdb_store/store/control_page.hpp"
#include "os/clock/clock.hpp"

namespace sluice::cli {
namespace {

constexpr std::uint64_t kSilenceMs = 5 * 60 * 1'000;

}  // namespace

void tell_standstill(const Frame& frame) {
    const auto control = store::ControlView::open(frame.paths());
    if (!control.ok()) {
        return;  // doctor reports it
    }
    const std::uint64_t heartbeat = control->heartbeat_ms();
    if (control->last_append_ms() <= heartbeat || wall_ms() <= heartbeat + kSilenceMs) {
        return;
    }
    const std::string since =
        heartbeat == 0 ? "no worker has run yet"
                       : "the worker has not run since " +
                             Timestamp{static_cast<std::int64_t>(heartbeat / 1'000), 0}.to_string();
    std::fprintf(stderr,
                 "sluice: note: %s: inputs that arrived later are not in this (`sluice doctor`)\n",
                 since.c_str());
}

}  // namespace sluice::cli
