// Cursors: where the next page of a list begins.
//
// A cursor is the last key and a digest of key and query, in base64url. The digest is keyed with a
// secret of the registry, so that it tells a cursor of another query and one that no server made.
// All servers of a fleet have that secret, and it survives a restart. A cursor protects nothing
// else: the account of a read comes from the caller, never from a cursor.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/reports/changes.hpp"
#include "core/values/ids.hpp"

namespace sluice::serve {

/// @param secret  Registry::cursor_secret().
/// @param query  Path, account and filters: all that decides which rows the list has.
[[nodiscard]] std::string make_cursor(std::string_view secret, std::string_view query,
                                      std::string_view key);
/// Returns the key, or nothing if the cursor is not one of this query.
[[nodiscard]] std::optional<std::string> open_cursor(std::string_view secret,
                                                     std::string_view query,
                                                     std::string_view cursor);

/// A key of several texts.
[[nodiscard]] std::string join_key(const std::vector<std::string>& parts);
/// Returns nothing unless join_key() made the key.
[[nodiscard]] std::optional<std::vector<std::string>> split_key(std::string_view key);
/// Returns nothing unless join_key() made the key of this many texts.
[[nodiscard]] std::optional<std::vector<std::string>> split_key(std::string_view key,
                                                                std::size_t parts);

// Cursors of /v1/changes, for the API and for commands.

/// Returns the key of a cursor: for each node its UUID, the change number, and the first bytes of
/// that change's hash in hexadecimal.
[[nodiscard]] std::string feed_key(const reports::FeedPlace& place);
/// Requires: feed_key() made the key, which the cursor's digest proves.
[[nodiscard]] reports::FeedPlace feed_place(const std::string& key);

/// @param secret  Registry::cursor_secret().
[[nodiscard]] std::string feed_cursor(std::string_view secret, AccountNumber account,
                                      const reports::FeedPlace& place);
/// Returns nothing unless the cursor is one of this account.
[[nodiscard]] std::optional<reports::FeedPlace> open_feed_cursor(std::string_view secret,
                                                                 AccountNumber account,
                                                                 std::string_view cursor);

}  // namespace sluice::serve
