#include "unit/core/intake/allocation_count.hpp"

#include <atomic>
#include <cstdlib>

namespace {

std::atomic<std::size_t> allocations = 0;

void* allocate(std::size_t bytes) noexcept {
    allocations.fetch_add(1, std::memory_order_relaxed);
    return std::malloc(bytes == 0 ? 1 : bytes);
}

}  // namespace

namespace sluice::test {
std::size_t allocation_count() noexcept {
    return allocations.load(std::memory_order_relaxed);
}
}  // namespace sluice::test

#include "unit/operator_new.hpp"
