// Output: listings as a table for people, JSON for programs, CSV for spreadsheets.
//
// Rows are written at once, so memory stays bounded. A table keeps its first rows to find the
// widths of its columns. Every format has the columns in the order of their declaration.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/lists/list.hpp"
#include "core/lists/row_output.hpp"
#include "core/values/result.hpp"
#include "program/cli/cli.hpp"
#include "program/cli/printable.hpp"

namespace sluice::cli {

using lists::csv_field;
using lists::object_of;
using lists::Row;

enum class Format : std::uint8_t { kTable, kJson, kCsv };
/// Adds `--format table|json|csv`.
Option add_format(Subcommand app, Format& target,
                  const std::string& help = "Output format (default: table)");

enum class Align : std::uint8_t { kLeft, kRight };

/// A column of a listing: of a list of the ledger, or of a command's own.
struct Column {
    std::string_view name;
    Align align = Align::kLeft;
    bool in_table = true;  ///< False for a column that only CSV and JSON have.
};
using Columns = std::vector<Column>;
[[nodiscard]] Columns operator+(Columns columns, const Columns& more);

// Return columns of the names, which single spaces separate.
[[nodiscard]] Columns left(std::string_view names);
[[nodiscard]] Columns right(std::string_view names);
[[nodiscard]] Columns in_files(std::string_view names, Align align = Align::kLeft);

/// Returns the columns as a table prints them: numbers, amounts and rates are aligned right.
[[nodiscard]] std::vector<Column> printed(const std::vector<lists::Column>& columns);

/// One listing, written to `out` (not owned). The program checks for write errors when it ends.
class Listing final : public lists::RowOutput {
public:
    Listing(Format format, std::vector<Column> columns, std::FILE* out = stdout);
    Listing(Format format, const std::vector<lists::Column>& columns, std::FILE* out = stdout)
        : Listing(format, printed(columns), out) {}

    /// A table and CSV show each value as Json::cell().
    void add(const Row& row) override;
    /// JSON shows all members of the row, not only the columns.
    void add_raw(const std::vector<JsonMember>& row) override;
    /// Writes the buffered rows and the end. Call once, after the last row.
    void finish();

private:
    static constexpr std::size_t kRowsHeldBack = 1000;

    [[nodiscard]] bool shows(const Column& column) const noexcept;
    void add_cells(std::vector<std::string> cells);
    void write_json(std::string_view object);
    void write_csv(const std::vector<std::string>& cells);
    void write_table(std::vector<std::string> cells);
    void start_table();
    void write_table_row(const std::vector<std::string>& cells);

    Format format_;
    std::vector<Column> columns_;
    std::FILE* out_;
    bool any_ = false;  ///< A row of JSON was written.
    bool table_started_ = false;
    std::vector<Align> aligns_;  ///< Alignments of the columns that a table shows.
    std::vector<std::size_t> widths_;
    std::vector<std::vector<std::string>> held_back_;
    std::string line_;
};

/// Prints a listing with a row for each of `items`.
template <class Items, class RowOf>
void list_all(Format format, std::vector<Column> columns, const Items& items, RowOf&& row_of) {
    Listing listing(format, std::move(columns));
    for (const auto& item : items) {
        listing.add(row_of(item));
    }
    listing.finish();
}

/// Prints a row of the list for each of `items`.
template <class Items, class Of>
void list_all(Format format, const lists::List<Of>& list, const Items& items) {
    list_all(format, printed(list.columns()), items,
             [&list](const Of& item) { return list.row(item); });
}

/// Appends a line of a CSV file.
void add_csv_line(std::string& text, const std::vector<std::string>& cells);

/// Groups the digits: 1234567 becomes 1,234,567.
[[nodiscard]] std::string grouped(std::uint64_t number);

/// Writes a list of objects as a table below its name. Requires: the list is not empty.
void write_table(const std::string& name, const Json& list, std::FILE* out = stdout);

/// One object: `name  value` lines and a table for each list of objects, a JSON object, or a CSV
/// file of one row.
void write_object(Format format, const Json& object, std::FILE* out = stdout);
/// Prints the object, or returns the error.
[[nodiscard]] Status write_object(Format format, const Result<Json>& object);

}  // namespace sluice::cli
