// Registry size: how much a registry has.
#pragma once

#include <cstdint>

namespace sluice::store {

struct RegistrySize {
    std::uint64_t accounts = 0, shops = 0, tokens = 0;  ///< Revoked tokens included.
    std::uint64_t bytes = 0;                            ///< Size of the published copy.
    std::uint64_t generation = 0;                       ///< Its number.
};

}  // namespace sluice::store
