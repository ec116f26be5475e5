#include "allocation_count.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> allocations = 0;

void* counted(std::size_t bytes) noexcept {
    allocations.fetch_add(1, std::memory_order_relaxed);
    return std::malloc(bytes == 0 ? 1 : bytes);
}

}  // namespace

namespace sluice::test {
std::size_t allocation_count() noexcept {
    return allocations.load(std::memory_order_relaxed);
}
}  // namespace sluice::test

// Visible to the shared libraries too (simdjson allocates with new). The array forms call the
// others in libstdc++, but not in a sanitizer's runtime.
#define SLUICE_VISIBLE __attribute__((visibility("default")))

SLUICE_VISIBLE void* operator new(std::size_t bytes) {
    if (void* memory = counted(bytes)) {
        return memory;
    }
    throw std::bad_alloc();
}
SLUICE_VISIBLE void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
    return counted(bytes);
}
SLUICE_VISIBLE void* operator new[](std::size_t bytes) {
    return operator new(bytes);
}
SLUICE_VISIBLE void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
    return counted(bytes);
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
