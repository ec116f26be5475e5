// Allocations of this test program that fail on purpose, one at a time.
#pragma once

namespace sluice::store {

/// While it lives, this thread's n-th call (from 0) of operator new throws std::bad_alloc. One at a
/// time in a thread.
class FailingMemory {
public:
    explicit FailingMemory(int nth) noexcept;
    FailingMemory(const FailingMemory&) = delete;
    FailingMemory& operator=(const FailingMemory&) = delete;
    ~FailingMemory();

    [[nodiscard]] bool struck() const noexcept;
};

}  // namespace sluice::store
