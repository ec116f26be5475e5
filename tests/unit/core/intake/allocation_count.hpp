// Counts this test program's calls of operator new, to hold "allocates nothing".
#pragma once

#include <cstddef>

namespace sluice::test {

/// Calls of operator new since the program began, by all threads.
[[nodiscard]] std::size_t allocation_count() noexcept;
/// Bytes of operator new that are not deleted yet.
[[nodiscard]] std::size_t allocated_bytes() noexcept;

}  // namespace sluice::test
