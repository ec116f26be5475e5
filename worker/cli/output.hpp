// Output: listings as a table for people, JSON for programs, CSV for spreadsheets.
//
// Rows are written as they come; only a table keeps its first rows, to find the columns' widths.
// So a million rows need no memory. Columns come in the order of the declaration in every format.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/slices.hpp"
#include "core/values/result.hpp"
#include "worker/cli/cli.hpp"
#include "worker/cli/json.hpp"

namespace sluice::cli {

enum class Format : std::uint8_t { kTable, kJson, kCsv };
[[nodiscard]] Result<Format> parse_format(std::string_view text);
/// Adds `--format table|json|csv`.
void add_format(Subcommand app, Format& target);

enum class Align : std::uint8_t { kLeft, kRight };

struct Column {
    std::string_view name;
    Align align = Align::kLeft;
    bool in_table = true;  ///< False: too wide for a table; CSV and JSON have it.
};

/// One listing, written to `out` (not owned). Write errors are found when the program ends.
class Listing {
public:
    Listing(Format format, std::vector<Column> columns, std::FILE* out = stdout);
    ~Listing() = default;
    Listing(const Listing&) = delete;
    Listing& operator=(const Listing&) = delete;

    /// @param row  An object with a member for each column. A table and CSV show each as cell().
    void add(const Json& row);
    /// The same for a row whose members are JSON text already. JSON shows every member of it, not
    /// only the columns.
    void add_raw(const std::vector<JsonMember>& row);
    /// Writes the rows that are still held back, and the end. Call once, after the last row.
    void finish();

private:
    static constexpr std::size_t kRowsHeldBack = 1000;

    void add_cells(std::vector<std::string> cells);
    void write_json(std::string_view object);
    void write_csv(const std::vector<std::string>& cells);
    void write_table(std::vector<std::string> cells);
    void start_table();
    void write_table_row(const std::vector<std::string>& cells);

    Format format_;
    std::vector<Column> columns_;
    std::FILE* out_;
    bool any_ = false;  ///< JSON: a row was written.
    bool table_started_ = false;
    std::vector<std::size_t> widths_;
    std::vector<std::vector<std::string>> held_back_;
    std::string line_;
};

/// A field of a CSV file, quoted if RFC 4180 demands it.
[[nodiscard]] std::string csv_field(std::string_view text);
/// Groups the digits: 1234567 becomes 1,234,567.
[[nodiscard]] std::string grouped(std::uint64_t number);
/// Makes text safe for a terminal: control characters become \xNN.
[[nodiscard]] std::string printable(std::string_view text);

/// One object: `name  value` lines, a JSON object, or a CSV file of one row.
void write_object(Format format, const Json& object, std::FILE* out = stdout);

}  // namespace sluice::cli
