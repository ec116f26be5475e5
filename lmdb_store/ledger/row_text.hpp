// Row text: an encoded row as named texts, for people and for the comparison of two ledgers.
// Internal to this room.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lmdb_store/ledger/tables.hpp"

namespace sluice::store {

struct ColumnText {
    std::string name;
    std::optional<std::string> text;  ///< No value if the column is absent.
    friend bool operator==(const ColumnText&, const ColumnText&) = default;
};

struct RowText {
    bool is_sound = false;  ///< False if key or value is not as sluice writes it; then no columns.
    std::vector<ColumnText> key, rest;
};
/// Returns `account 1, shop 1, order_id o1`.
[[nodiscard]] std::string columns_text(const std::vector<ColumnText>& columns);

/// Gives a text from people the form in which another kind of ledger stores it. May be empty.
using TextForm = std::function<std::string(const std::string&)>;

/// Decodes a row of any table, indexes included. A column has the name that it has in SQL.
[[nodiscard]] RowText row_text(Table table, std::string_view key, std::string_view value,
                               const TextForm& form);

}  // namespace sluice::store
