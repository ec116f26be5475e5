// Bytes of the rows, sealed with their keys. Internal to this folder.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lmdb_store/destinations/rows.hpp"

namespace sluice::store {

/// Returns the prefix of the keys of a destination's changes and replays.
[[nodiscard]] std::string prefix_of(const std::string& destination);
[[nodiscard]] std::string pending_key(const std::string& destination, const ChangeId& change);
/// Returns a key that sorts as the number does.
[[nodiscard]] std::string number_key(std::string_view prefix, std::uint64_t number);
/// Returns the number at the end of such a key.
[[nodiscard]] std::uint64_t number_of_key(std::string_view key);

/// Returns the value for a key.
template <class Row>
[[nodiscard]] std::string encode(std::string_view key, const Row& row);
/// Returns nothing if the value is damaged.
template <class Row>
[[nodiscard]] std::optional<Row> decode(std::string_view key, std::string_view value);

}  // namespace sluice::store
