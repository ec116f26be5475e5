// Registry board: where the source of a fleet publishes its registry, and the other nodes look.
//
// The text is opaque here: it was encrypted and sealed before it came, and the key is never in the
// database. One registry is published at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/values/result.hpp"
#include "pg_store/connection/url.hpp"

namespace sluice::pg {

struct RegistryMark {
    std::string source;  ///< UUID of the store.
    std::uint64_t revision = 0;
    friend bool operator==(const RegistryMark&, const RegistryMark&) = default;
};

struct PublishedRegistry {
    RegistryMark mark;
    std::string text;  ///< Empty: the one that is known already.
};

/// kConflict: another source's, or a newer one, is published there; `force` replaces it.
[[nodiscard]] Status publish_registry(const Url& url, const PublishedRegistry& registry,
                                      bool force);
/// kNotFound: nothing is published there. A standby will do.
/// @param known  Its text is not fetched again.
[[nodiscard]] Result<PublishedRegistry> fetch_registry(const Url& url,
                                                       const std::optional<RegistryMark>& known);

}  // namespace sluice::pg
