#include "unit/lmdb_store/failing_memory.hpp"

#include <cstdlib>
#include <new>

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

// Visible to the shared libraries too. The array forms call the others in libstdc++, but not in a
// sanitizer's runtime.
#define SLUICE_VISIBLE __attribute__((visibility("default")))

SLUICE_VISIBLE void* operator new(std::size_t bytes) {
    if (void* memory = allocate(bytes)) {
        return memory;
    }
    throw std::bad_alloc();
}
SLUICE_VISIBLE void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    return allocate(bytes);
}
SLUICE_VISIBLE void* operator new[](std::size_t bytes) {
    return operator new(bytes);
}
SLUICE_VISIBLE void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
    return allocate(bytes);
}
SLUICE_VISIBLE void operator delete(void* memory) noexcept {
    std::free(memory);
}
SLUICE_VISIBLE void operator delete(void* memory, std::size_t) noexcept {
    std::free(memory);
}
SLUICE_VISIBLE void operator delete[](void* memory) noexcept {
    std::free(memory);
}
SLUICE_VISIBLE void operator delete[](void* memory, std::size_t) noexcept {
    std::free(memory);
}
