// WaitingList: requests that wait for a batch, oldest first. Pure; owns no request.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sluice {

/// A request's place in a list. Its owner keeps it at one address while it waits.
struct Waiter {
    Waiter* next = nullptr;
    std::uint64_t joined_ms = 0;  ///< When it joined, on a monotonic clock.
    std::uint64_t bytes = 0;      ///< Bytes to be stored.
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

    /// Removes waiters from the front until `accept` returns false.
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
    /// Returns the oldest waiter, or nullptr if the list is empty.
    [[nodiscard]] const Waiter* oldest() const noexcept { return first_; }

private:
    Waiter* first_ = nullptr;
    Waiter* last_ = nullptr;  ///< Valid while first_ is not nullptr.
    std::size_t count_ = 0;
    std::uint64_t bytes_ = 0;
};

}  // namespace sluice
