// Action list: what one event asks an engine's surroundings for, in order. No allocation.
#pragma once

#include <array>
#include <cstddef>

#include "core/values/assert.hpp"

namespace sluice {

/// @tparam N  The most that one event asks for.
template <class Action, std::size_t N>
class ActionList {
public:
    void add(const Action& action) noexcept {
        SLUICE_ASSERT(count_ < list_.size());
        list_[count_++] = action;
    }
    [[nodiscard]] const Action* begin() const noexcept { return list_.data(); }
    [[nodiscard]] const Action* end() const noexcept { return list_.data() + count_; }

private:
    std::array<Action, N> list_{};
    std::size_t count_ = 0;
};

}  // namespace sluice
