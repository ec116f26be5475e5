#include "unit/core/intake/allocation_count.hpp"

#include <malloc.h>

#include <atomic>
#include <cstdlib>

namespace {

std::atomic<std::size_t> allocations = 0;
std::atomic<std::size_t> bytes_held = 0;

void* allocate(std::size_t bytes) noexcept {
    allocations.fetch_add(1, std::memory_order_relaxed);
    void* const memory = std::malloc(bytes == 0 ? 1 : bytes);
    bytes_held.fetch_add(::malloc_usable_size(memory), std::memory_order_relaxed);
    return memory;
}

void release(void* memory) noexcept {
    bytes_held.fetch_sub(::malloc_usable_size(memory), std::memory_order_relaxed);
    std::free(memory);
}

}  // namespace

namespace sluice::test {
std::size_t allocation_count() noexcept {
    return allocations.load(std::memory_order_relaxed);
}
std::size_t allocated_bytes() noexcept {
    return bytes_held.load(std::memory_order_relaxed);
}
}  // namespace sluice::test

#include "unit/operator_new.hpp"
