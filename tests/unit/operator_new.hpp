// Replaces operator new and delete of the whole program. For one source file of a test program,
// which defines allocate() and release() in its unnamed namespace before it includes this.
//
// Visible to the shared libraries too (simdjson allocates with new). The array forms call the
// others in libstdc++, but not in a sanitizer's runtime.
#pragma once

#include <cstddef>
#include <new>

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
    release(memory);
}
SLUICE_VISIBLE void operator delete(void* memory, std::size_t) noexcept {
    release(memory);
}
SLUICE_VISIBLE void operator delete[](void* memory) noexcept {
    release(memory);
}
SLUICE_VISIBLE void operator delete[](void* memory, std::size_t) noexcept {
    release(memory);
}
