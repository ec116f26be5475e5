// Secrets of a destination: the keys that sign, and the header that --header-from names. Both are
// sealed in the store under `notify.key`, together with the destination's UUID.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/values/result.hpp"
#include "lmdb_store/destinations/rows.hpp"
#include "lmdb_store/store/master_key.hpp"

namespace sluice::notify {

/// How long both secrets sign after a rotation.
inline constexpr std::uint64_t kOldSecretMs = 86'400'000;

[[nodiscard]] std::string seal_for(const store::MasterKey& key,
                                   const store::Destination& destination, std::string_view secret);

struct OpenedSecrets {
    std::vector<std::string> signing;  ///< One, or two after a rotation.
    std::string header;                ///< May be empty.
};
/// @param now  Milliseconds since 1970.
[[nodiscard]] Result<OpenedSecrets> open_secrets(const store::MasterKey& key,
                                                 const store::Destination& destination,
                                                 std::uint64_t now);

/// Checks `Name: value` of a request header. Refuses names that sluice or libcurl set. Errors do
/// not repeat the value.
[[nodiscard]] Result<std::string> parse_header(std::string_view line);

}  // namespace sluice::notify
