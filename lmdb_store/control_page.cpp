#include "lmdb_store/control_page.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <ctime>

namespace sluice::store {
namespace {

// The page is shared between processes, so the futex must not be a private one.
long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* timeout) noexcept {
    return syscall(SYS_futex, &word, operation, value, timeout, nullptr, 0);
}

}  // namespace

void ControlPage::notify_appended(std::uint64_t now_ms) noexcept {
    words_->last_append_ms.store(now_ms, std::memory_order_relaxed);
    words_->wake.fetch_add(1);
    if (words_->worker_sleeps.load() != 0) {
        futex(words_->wake, FUTEX_WAKE, 1, nullptr);
    }
}

void ControlPage::wait_for_append(std::uint32_t seen_wake, std::uint32_t timeout_ms) noexcept {
    const timespec timeout{static_cast<time_t>(timeout_ms / 1000),
                           static_cast<long>(timeout_ms % 1000) * 1'000'000};
    words_->worker_sleeps.store(1);
    // Returns at once if an append came between the caller's look at the word and here.
    futex(words_->wake, FUTEX_WAIT, seen_wake, &timeout);
    words_->worker_sleeps.store(0);
}

}  // namespace sluice::store
