// Registry file: a registry as text, one JSON object a line. docs/registry.md is for readers.
//
// Secrets stay encrypted with the master key, which also seals the whole file. Without that key no
// program can read a secret, and every change to a line is detected.
#pragma once

#include <string>
#include <string_view>

#include "lmdb_store/registry/exchange.hpp"
#include "lmdb_store/store/master_key.hpp"

namespace sluice::cli {

/// The only version that is written and read.
inline constexpr std::uint64_t kRegistryFileVersion = 5;
inline constexpr std::size_t kRegistryFileBytesMax = std::size_t{1} << 30;

/// @param key  The key that sealed the snapshot's secrets.
[[nodiscard]] std::string encode_registry(const store::RegistrySnapshot& snapshot,
                                          const store::MasterKey& key);
/// Returns kInvalid if `text` is no registry file or was made with another key, kUnsupported if a
/// newer release made it, kCorrupt if it is damaged, cut off or was changed without the key.
[[nodiscard]] Result<store::RegistrySnapshot> decode_registry(std::string_view text,
                                                              const store::MasterKey& key);

}  // namespace sluice::cli
