// Values in shared memory that one process writes and many read, without a lock.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

namespace sluice {

/// A plain value. Zero bytes are its start: nothing was written. One writer at a time (a Lease sees
/// to that); should a writer that was held up meet its successor, a reader may see a mixture until
/// the next write.
template <class T>
class SharedValue {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(std::uint64_t) == 0);

public:
    void write(const T& value) noexcept {
        const std::uint64_t before = version_.load(std::memory_order_relaxed);
        const std::uint64_t writing = (before | 1U) + (before & 1U) * 2;  // odd: its writer died
        version_.store(writing, std::memory_order_relaxed);
        const auto words = std::bit_cast<Words>(value);
        for (std::size_t i = 0; i < words.size(); ++i) {
            // Release: a reader that sees a new word also sees that it is being written.
            words_[i].store(words[i], std::memory_order_release);
        }
        version_.store(writing + 1, std::memory_order_release);
    }

    /// Nothing: nothing was written, or it was being written all the time.
    [[nodiscard]] std::optional<T> read() const noexcept {
        constexpr int kTriesMax = 64;
        for (int tries = 0; tries < kTriesMax; ++tries) {
            const std::uint64_t version = version_.load(std::memory_order_acquire);
            if (version == 0) {
                return std::nullopt;
            }
            Words words;
            for (std::size_t i = 0; i < words.size(); ++i) {
                words[i] = words_[i].load(std::memory_order_acquire);
            }
            if ((version & 1U) == 0 && version_.load(std::memory_order_relaxed) == version) {
                return std::bit_cast<T>(words);
            }
        }
        return std::nullopt;
    }

private:
    using Words = std::array<std::uint64_t, sizeof(T) / sizeof(std::uint64_t)>;

    std::atomic<std::uint64_t> version_;  ///< Odd: it is being written.
    std::array<std::atomic<std::uint64_t>, sizeof(T) / sizeof(std::uint64_t)> words_;
};

/// Which of many processes does a task: the one that holds the lease, until it ends. Zero bytes are
/// its start: nobody's.
class Lease {
public:
    /// @param mine    What hold() left here before; 0 at first. The caller's own.
    /// @param now_ms  Of a clock that all processes share and that never goes back.
    /// @return true: the caller has it until now_ms + span_ms, unless it holds it again before.
    [[nodiscard]] bool hold(std::uint64_t& mine, std::uint64_t now_ms,
                            std::uint64_t span_ms) noexcept {
        std::uint64_t until = until_ms_.load(std::memory_order_relaxed);
        const bool is_mine = mine != 0 && until == mine;
        if (!is_mine && now_ms < until) {
            return false;
        }
        const std::uint64_t wanted = now_ms + span_ms;
        if (!until_ms_.compare_exchange_strong(until, wanted, std::memory_order_acq_rel)) {
            return false;
        }
        mine = wanted;
        return true;
    }

private:
    std::atomic<std::uint64_t> until_ms_;
};

}  // namespace sluice
