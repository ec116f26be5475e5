// Registry board: a row in which the source of a fleet publishes its registry for the other nodes.
//
// The text is opaque here: it was encrypted and sealed before it came, and the key is never in the
// database. One registry is published at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/values/result.hpp"
#include "pg_store/connection/url.hpp"

namespace sluice::pg {

struct RegistryMark {
    std::string source;  ///< UUID of the store.
    std::uint64_t revision = 0;
    std::string digest;  ///< SHA-256 of the source's history up to here.
    friend bool operator==(const RegistryMark&, const RegistryMark&) = default;
};

struct PublishedRegistry {
    RegistryMark mark;
    std::string text;  ///< Empty if it is the known one.
};

/// Returns success if the published registry may be replaced, or an Error with the reason why not.
using GivesWay = std::function<Status(const RegistryMark&)>;

/// Returns the status of `gives_way`, or kConflict if another program published meanwhile.
[[nodiscard]] Status publish_registry(const Url& url, const PublishedRegistry& registry,
                                      const GivesWay& gives_way);
/// Returns kNotFound if no registry is published. May read from a standby.
/// @param known  A registry whose text is not fetched again.
[[nodiscard]] Result<PublishedRegistry> fetch_registry(const Url& url,
                                                       const std::optional<RegistryMark>& known);

}  // namespace sluice::pg
