#include "unit/lmdb_store/failing_memory.hpp"

#include <cstdlib>

namespace {

constexpr int kNever = -1;
thread_local int countdown = kNever;
thread_local bool has_struck = false;

void* allocate(std::size_t bytes) noexcept {
    if (countdown != kNever && countdown-- == 0) {
        has_struck = true;
        return nullptr;
    }
    return std::malloc(bytes == 0 ? 1 : bytes);
}

void release(void* memory) noexcept {
    std::free(memory);
}

}  // namespace

namespace sluice::store {

FailingMemory::FailingMemory(int nth) noexcept {
    has_struck = false;
    countdown = nth;
}

FailingMemory::~FailingMemory() {
    countdown = kNever;
}

bool FailingMemory::struck() const noexcept {
    return has_struck;
}

}  // namespace sluice::store

#include "unit/operator_new.hpp"
