#include "lmdb_store/store/control_page.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

namespace sluice::store {
namespace {

// The page is shared between processes, so the futex must not be a private one.
long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* timeout) noexcept {
    return syscall(SYS_futex, &word, operation, value, timeout, nullptr, 0);
}

/// splitmix64's finalizer: every bit of the input moves about half of the output's.
std::uint64_t mix(std::uint64_t word) noexcept {
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9U;
    word = (word ^ (word >> 27)) * 0x94D049BB133111EBU;
    return word ^ (word >> 31);
}

/// Never 0, which is none.
std::uint64_t latch_word(Latch latch, std::uint64_t key) noexcept {
    return mix(key + 1 + static_cast<std::uint64_t>(latch)) | 1U;
}

}  // namespace

std::uint64_t queue_key(std::string_view queue_uuid) noexcept {
    std::uint64_t key = 0x736C75696365U;
    for (const char c : queue_uuid) {
        key = mix(key + static_cast<unsigned char>(c));
    }
    return key;
}

void ControlPage::publish_applied(SequenceNumber seq) noexcept {
    // A reader between the two stores sees a pair that does not fit and deletes nothing.
    words_->applied_seq.store(seq.value);
    words_->applied_check.store(mix(seq.value ^ key_));
}

SequenceNumber ControlPage::applied() const noexcept {
    const std::uint64_t seq = words_->applied_seq.load();
    return {words_->applied_check.load() == mix(seq ^ key_) ? seq : 0};
}

void ControlPage::set_latch(Latch latch, std::uint64_t boot, std::string_view text) noexcept {
    if (latched(boot)) {
        return;
    }
    text = text.substr(0, words_->latch_text.size() - 1);
    *std::copy(text.begin(), text.end(), words_->latch_text.begin()) = '\0';
    words_->latch.store(latch_word(latch, key_ ^ boot));
}

std::optional<Latch> ControlPage::latched(std::uint64_t boot) const noexcept {
    const std::uint64_t word = words_->latch.load();
    if (word == 0) [[likely]] {
        return std::nullopt;
    }
    for (const Latch latch : {Latch::kIo, Latch::kDamage}) {
        if (word == latch_word(latch, key_ ^ boot)) {
            return latch;
        }
    }
    return std::nullopt;
}

std::string ControlPage::latch_text() const {
    const auto& text = words_->latch_text;
    return {text.begin(), std::find(text.begin(), text.end(), '\0')};
}

void ControlPage::clear_latch() noexcept {
    words_->latch.store(0);
}

void ControlPage::opened_by_master(std::uint64_t master) noexcept {
    if (words_->nginx_master.exchange(master) != master) {
        clear_latch();
    }
}

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
