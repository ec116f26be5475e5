// Place: where a ledger is that a person names: a folder, or a database.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "core/values/result.hpp"
#include "lmdb_store/store/format.hpp"
#include "pg_store/connection/url.hpp"

namespace sluice::worker {

struct LedgerPlace {
    std::optional<pg::Url> url;    ///< Nothing: a folder.
    std::filesystem::path folder;  ///< Absolute, without a slash at the end.

    /// For people and marks; no password.
    [[nodiscard]] std::string shown() const { return url ? url->shown() : folder.string(); }
    /// By name; two URLs may mean one database all the same.
    [[nodiscard]] bool is(const LedgerPlace& other) const;
    /// The store whose own ledger the folder is, or would be; nothing: none's.
    [[nodiscard]] std::optional<store::StorePaths> store() const;
};

/// kInvalid: a URL that cannot be read.
[[nodiscard]] Result<LedgerPlace> parse_place(std::string_view text);

}  // namespace sluice::worker
