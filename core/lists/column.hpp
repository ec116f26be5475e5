// Columns of lists: the one place where a column has its name and type, and says who may read it.
// Tables, CSV, JSON, the OpenAPI document, masks, and the types of exports are made of them.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::lists {

enum class ColumnType : std::uint8_t {
    kText,
    kTexts,    ///< A list of texts without `;`, which divides them in CSV.
    kInteger,  ///< Fits 64 bits, signed.
    kAmount,   ///< Up to 6 digits after the point.
    kFlag,
    kRate,     ///< `10%`, or an amount with its currency.
    kDate,     ///< `2026-01-31`
    kTime,     ///< RFC 3339 in UTC, with up to 9 digits of a second.
    kJson,     ///< An object or a list, as one text where a column has no members.
    kObject,   ///< Members, of which the API alone knows who sees them.
    kObjects,  ///< A list of objects.
};

/// Which callers of the API see a column of a resource that they may read.
enum class Scope : std::uint8_t {
    kEveryone,
    kLedger,  ///< With read_ledger; with the role support, where it reads what creators own.
    kPayee,   ///< As kLedger, masked.
};

/// Whether a table for people has the column. CSV and JSON have every column.
enum class Shown : std::uint8_t { kInTable, kInFilesOnly };

// A list has many of them.
using enum ColumnType;
using enum Scope;
using enum Shown;

/// A column without a scope does not compile: each new one takes a decision.
struct Column {
    std::string_view name;
    ColumnType type;
    Scope scope;
    Shown shown;
    std::vector<Column> members;  ///< Members of an object or of each object. Others are private.

    Column(std::string_view of_name, ColumnType of_type, Scope of_scope, Shown in = Shown::kInTable,
           std::vector<Column> of_members = {})
        : name(of_name),
          type(of_type),
          scope(of_scope),
          shown(in),
          members(std::move(of_members)) {}
    Column(std::string_view of_name, ColumnType of_type, Scope of_scope,
           std::vector<Column> of_members)
        : Column(of_name, of_type, of_scope, Shown::kInTable, std::move(of_members)) {}
};

[[nodiscard]] inline std::vector<Column> operator+(std::vector<Column> columns,
                                                   const std::vector<Column>& more) {
    columns.insert(columns.end(), more.begin(), more.end());
    return columns;
}

/// Returns the words of a text, which single spaces separate.
[[nodiscard]] std::vector<std::string_view> words_of(std::string_view text);

}  // namespace sluice::lists
