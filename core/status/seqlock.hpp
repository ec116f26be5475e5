// Seqlock and Lease: a value in shared memory that one process writes and many read, and the choice
// of the process that writes it. No function blocks.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

namespace sluice {

/// A plain value that readers copy without a lock. Zero bytes are its initial state. A Lease
/// ensures that one process writes at a time. If a delayed writer overlaps its successor, a reader
/// may see parts of both values until the next write.
template <class T>
class Seqlock {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(std::uint64_t) == 0);

public:
    void write(const T& value) noexcept {
        const std::uint64_t before = version_.load(std::memory_order_relaxed);
        const std::uint64_t writing = (before | 1U) + (before & 1U) * 2;  // odd if its writer died
        version_.store(writing, std::memory_order_relaxed);
        const auto words = std::bit_cast<Words>(value);
        for (std::size_t i = 0; i < words.size(); ++i) {
            // Release, so that a reader of a new word also sees the odd version.
            words_[i].store(words[i], std::memory_order_release);
        }
        version_.store(writing + 1, std::memory_order_release);
    }

    /// Returns the value, or nullopt if there is none yet, or each try met a write.
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

    std::atomic<std::uint64_t> version_;  ///< Odd during a write.
    std::array<std::atomic<std::uint64_t>, sizeof(T) / sizeof(std::uint64_t)> words_;
};

/// Selects one of many processes for a task: the one that holds the lease, until it ends. Zero
/// bytes are its initial state, without a holder.
class Lease {
public:
    /// Returns true if the caller holds the lease until now_ms + span_ms, or until it renews it.
    /// @param mine    The caller's own; 0 at first, and then set by hold().
    /// @param now_ms  A monotonic clock that all processes share.
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
