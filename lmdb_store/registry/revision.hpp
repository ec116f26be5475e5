// Revision: a state in the history of one registry.
#pragma once

#include <cstdint>
#include <string>

namespace sluice::store {

/// A place in the history of a source.
struct RegistryRevision {
    std::string source;        ///< UUID of the store.
    std::uint64_t number = 0;  ///< Grows with every change there.
    std::string digest;        ///< 32 bytes that no other change has; empty: an older release's.
    friend bool operator==(const RegistryRevision&, const RegistryRevision&) = default;
};

/// One that came before; `digest` is the first 8 bytes of its own, big-endian.
struct PastRevision {
    std::uint64_t number = 0;
    std::uint64_t digest = 0;
    friend bool operator==(const PastRevision&, const PastRevision&) = default;
};

}  // namespace sluice::store
