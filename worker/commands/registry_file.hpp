// Registry file: a registry as text, one JSON object a line. docs/registry.md is for readers.
//
// Secrets stay encrypted with the master key, which also seals the whole file. Without that key
// nobody can read a secret, or change, cut or forge a line unnoticed.
#pragma once

#include <string>
#include <string_view>

#include "lmdb_store/registry/exchange.hpp"
#include "lmdb_store/store/master_key.hpp"

namespace sluice::cli {

/// The only version that is written and read.
inline constexpr std::uint64_t kRegistryFileVersion = 2;
inline constexpr std::size_t kRegistryFileBytesMax = std::size_t{1} << 30;

/// @param key  The one that sealed the snapshot's secrets.
[[nodiscard]] std::string encode_registry(const store::RegistrySnapshot& snapshot,
                                          const store::MasterKey& key);
/// kInvalid: no registry file, or made with another key. kUnsupported: of a newer release.
/// kCorrupt: damaged, cut off or changed without the key.
[[nodiscard]] Result<store::RegistrySnapshot> decode_registry(std::string_view text,
                                                              const store::MasterKey& key);

}  // namespace sluice::cli
