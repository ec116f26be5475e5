// WaitingList: those whose turn to be stored has not come, oldest first. Pure; owns nothing.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sluice {

/// What a request brings along to stand in a list. Its owner keeps it where it is while it waits.
struct Waiter {
    Waiter* next = nullptr;
    std::uint64_t joined_ms = 0;  ///< When it joined; of a clock that never goes back.
    std::uint64_t bytes = 0;      ///< Of what is to be stored.
};

/// Waiters that left a list together, linked by `next`, oldest first.
struct WaiterChain {
    Waiter* first = nullptr;
    std::size_t count = 0;
};

class WaitingList {
public:
    void push(Waiter& waiter) noexcept {
        waiter.next = nullptr;
        (first_ == nullptr ? first_ : last_->next) = &waiter;
        last_ = &waiter;
        ++count_;
        bytes_ += waiter.bytes;
    }

    /// Takes waiters from the front as long as `accept` says so.
    template <class Accept>
    [[nodiscard]] WaiterChain take(Accept&& accept) noexcept {
        WaiterChain taken{first_, 0};
        Waiter* last = nullptr;
        while (first_ != nullptr && accept(*first_)) {
            last = first_;
            first_ = first_->next;
            bytes_ -= last->bytes;
            ++taken.count;
        }
        count_ -= taken.count;
        if (last == nullptr) {
            return {};
        }
        last->next = nullptr;
        return taken;
    }

    [[nodiscard]] std::size_t count() const noexcept { return count_; }
    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }
    [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
    /// nullptr: nobody waits.
    [[nodiscard]] const Waiter* oldest() const noexcept { return first_; }

private:
    Waiter* first_ = nullptr;
    Waiter* last_ = nullptr;  ///< Valid while first_ is.
    std::size_t count_ = 0;
    std::uint64_t bytes_ = 0;
};

}  // namespace sluice
