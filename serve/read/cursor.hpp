// Cursors: where the next page of a list begins.
//
// A cursor is the last key and a digest of key and query, in base64url. The digest tells a cursor
// of another query and one that was damaged. It is not keyed, so that a cursor outlives tokens,
// servers and restored registries. It protects nothing: the account of a read comes from the
// caller, never from a cursor, and every read checks the key like any other parameter.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/lists/changes.hpp"
#include "core/values/ids.hpp"

namespace sluice::serve {

/// @param query  Path, account and filters: all that decides which rows the list has.
[[nodiscard]] std::string make_cursor(std::string_view query, std::string_view key);
/// Returns the key, or nothing if the cursor is not one of this query.
[[nodiscard]] std::optional<std::string> open_cursor(std::string_view query,
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
[[nodiscard]] std::string feed_key(const lists::FeedPlace& place);
/// Returns nothing unless feed_key() made the key.
[[nodiscard]] std::optional<lists::FeedPlace> feed_place(const std::string& key);

[[nodiscard]] std::string feed_cursor(AccountNumber account, const lists::FeedPlace& place);
/// Returns nothing unless the cursor is one of this account.
[[nodiscard]] std::optional<lists::FeedPlace> open_feed_cursor(AccountNumber account,
                                                               std::string_view cursor);

}  // namespace sluice::serve
