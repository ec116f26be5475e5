// LMDB's data format, version 1, and the head of its lock file, both of LMDB 0.9: as constants,
// because LMDB's interface does not have them. Internal to lmdb_store; lmdb_version.hpp keeps other
// versions away.
#pragma once

#include <array>
#include <cstdint>

namespace sluice::store {

struct LmdbTree {
    std::uint32_t pad;
    std::uint16_t flags, depth;
    std::uint64_t branch_pages, leaf_pages, overflow_pages, entries, root;
};
struct LmdbMeta {
    std::uint32_t magic, version;
    std::uint64_t address, map_bytes;
    std::array<LmdbTree, 2> trees;  ///< Free list, main. The pad of the first is the page size.
    std::uint64_t last_page, txn_id;
};
struct LmdbPageHead {
    std::uint64_t number;
    std::uint16_t pad, flags, lower, upper;
};
struct LmdbNodeHead {
    std::uint16_t low, high, flags, key_bytes;
};
static_assert(sizeof(LmdbMeta) == 136 && sizeof(LmdbPageHead) == 16 && sizeof(LmdbNodeHead) == 8);

inline constexpr std::uint32_t kLmdbMagic = 0xBEEFC0DE;
inline constexpr std::uint32_t kLmdbDataVersion = 1;
/// LMDB's MDB_LOCK_FORMAT on Linux: version 1, and locks that tell which process lives.
inline constexpr std::uint32_t kLmdbLockFormat = 1 + (1U << 16);

}  // namespace sluice::store
