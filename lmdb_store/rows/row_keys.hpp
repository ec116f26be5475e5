// Keys of the described tables (core/ledger/table.hpp), as LMDB takes them.
//
// A text stays whole if what can follow it is sure to fit. The place of the cut depends on what
// comes before the text and on the table, so keys with one beginning are cut alike and sort alike.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "core/ledger/table.hpp"
#include "lmdb_store/rows/field_reader.hpp"
#include "lmdb_store/rows/keys.hpp"

namespace sluice::store {

inline constexpr std::size_t kKeyTextsMax = 6;

/// Texts of a described key that the key had to cut: the value has them, in their order.
struct CutTexts {
    std::array<std::string_view, kKeyTextsMax> texts;
    std::uint32_t which = 0;  ///< Bit n: the key's text n.

    [[nodiscard]] bool has(std::size_t text) const noexcept { return (which >> text & 1) != 0; }
};

/// Returns the key of a described row, or its first `columns`.
/// @param node  The ledger's number of the queue, for rows that belong to one.
[[nodiscard]] LedgerKey row_key(RowView row, CutTexts& cut, std::uint32_t node = 0,
                                unsigned columns = ~0U);
[[nodiscard]] LedgerKey row_key(RowView row, std::uint32_t node = 0, unsigned columns = ~0U);

/// Fills in the key columns of a row. A text that the key cut is left empty.
/// @return false if the key is damaged.
[[nodiscard]] bool read_row_key(std::string_view key, RowRef row, CutTexts& cut);

/// Takes the texts that the key cut from the value. A row that has one of them already must have
/// the same text: otherwise the value is another row's, and `from` fails.
void read_cut_texts(const CutTexts& cut, FieldReader& from, RowRef row);

}  // namespace sluice::store
