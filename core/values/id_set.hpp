// Id set: finds repeated ids in a list, and tells whether an id is in it.
//
// Sorting, not hashing: no choice of ids makes it slower than n log n.
// Memory: keeps its buffers; assign() of an ordinary order's few ids allocates nothing.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace sluice {

class IdSet {
public:
    /// @param ids  An empty one is no id and never a repetition. Views must outlive the set's use.
    void assign(std::span<const std::string_view> ids);

    [[nodiscard]] bool has_repeats() const noexcept { return has_repeats_; }
    /// Returns true if an equal id came earlier in the list; false beyond its end.
    [[nodiscard]] bool is_repeat(std::size_t position) const noexcept {
        return position < repeats_.size() && repeats_[position] != 0;
    }
    [[nodiscard]] bool contains(std::string_view id) const noexcept;
    void clear() noexcept { assign({}); }

private:
    static constexpr std::size_t kSmall = 16;  ///< Up to this size, comparing all pairs is fastest.

    std::span<const std::string_view> ids_;
    std::vector<std::uint32_t> sorted_;  ///< Positions by id; empty if the list is small.
    std::vector<std::uint8_t> repeats_;
    bool has_repeats_ = false;
};

}  // namespace sluice
