// Log-linear histogram of latencies in nanoseconds: 64 steps per power of two, error under 1.6 %.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace sluice::bench {

class Histogram {
public:
    void add(std::uint64_t nanos) noexcept {
        ++counts_[index_of(nanos)];
        ++total_;
        max_ = nanos > max_ ? nanos : max_;
    }
    [[nodiscard]] std::uint64_t count() const noexcept { return total_; }
    [[nodiscard]] std::uint64_t max() const noexcept { return max_; }

    /// Upper edge of the bucket that holds the given quantile. Requires: 0 < quantile <= 1.
    [[nodiscard]] std::uint64_t quantile(double quantile) const noexcept {
        const auto wanted =
            static_cast<std::uint64_t>(quantile * static_cast<double>(total_) + 0.5);
        std::uint64_t seen = 0;
        for (std::size_t index = 0; index < counts_.size(); ++index) {
            seen += counts_[index];
            if (seen >= wanted && seen > 0) {
                return upper_edge(index);
            }
        }
        return max_;
    }

private:
    static constexpr unsigned kSubBits = 6;

    static std::size_t index_of(std::uint64_t value) noexcept {
        if (value < (1u << kSubBits)) {
            return value;
        }
        const unsigned exponent = static_cast<unsigned>(std::bit_width(value)) - 1 - kSubBits;
        return ((static_cast<std::size_t>(exponent) + 1) << kSubBits) +
               ((value >> exponent) & ((1u << kSubBits) - 1));
    }
    static std::uint64_t upper_edge(std::size_t index) noexcept {
        if (index < (1u << kSubBits)) {
            return index;
        }
        const std::size_t exponent = (index >> kSubBits) - 1;
        const std::uint64_t mantissa = (index & ((1u << kSubBits) - 1)) | (1u << kSubBits);
        return ((mantissa + 1) << exponent) - 1;
    }

    std::array<std::uint64_t, (64 - kSubBits + 1) << kSubBits> counts_{};
    std::uint64_t total_ = 0;
    std::uint64_t max_ = 0;
};

}  // namespace sluice::bench
