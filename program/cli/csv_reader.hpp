// CSV as in RFC 4180: quoted fields, "" for a quote, line breaks inside quotes, CRLF or LF. A byte
// order mark at the start and empty lines are skipped.
#pragma once

#include <cstdint>
#include <cstdio>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/values/result.hpp"

namespace sluice::cli {

struct CsvRow {
    std::uint64_t line = 0;  ///< Line of its first character, from 1.
    std::vector<std::string> fields;
};

/// Returns `name:line: what`: an error of a file that a person wrote.
[[nodiscard]] Error error_at(const std::string& name, std::uint64_t line, const std::string& what);
/// Returns "not UTF-8", with the command that changes it if the encoding can be guessed from
/// `text`.
[[nodiscard]] std::string not_utf8(const std::string& file, std::string_view text);

/// Skips a UTF-8 byte order mark. Requires: the file is at its beginning.
void skip_byte_order_mark(std::FILE* file);

/// Reads rows one after the other. Bounded memory: one row.
class CsvReader {
public:
    static constexpr std::size_t kRowBytesMax = 16u << 20;

    /// @param name  The file's name, for messages. Does not own `file`.
    /// @param row_bytes_max  A multiple of 1 MB (2^20 bytes), because the error states whole MB.
    CsvReader(std::FILE* file, std::string name, std::size_t row_bytes_max = kRowBytesMax,
              char separator = ',');

    /// @return false at the end of the file, or kInvalid as `name:line: expectation`.
    [[nodiscard]] Result<bool> next(CsvRow& row);
    /// Returns `name:line: what`
    [[nodiscard]] Error error_at(std::uint64_t line, const std::string& what) const;

private:
    [[nodiscard]] int take();
    [[nodiscard]] int peek();
    [[nodiscard]] Status read_quoted(std::string& field);
    [[nodiscard]] Status read_plain(std::string& field);
    [[nodiscard]] bool skip_line_end();
    [[nodiscard]] bool ends_field(int c) const noexcept;
    [[nodiscard]] Error too_long(std::uint64_t line) const;

    std::FILE* file_;
    std::string name_;
    std::size_t row_bytes_max_;
    char separator_;
    std::uint64_t line_ = 1;
    std::size_t row_bytes_ = 0;
};

/// Columns that a file must have, and columns that it may have.
struct CsvColumns {
    std::vector<std::string> required;
    std::vector<std::string> optional = {};
    /// If it is set, the file may have further columns: gets their names, in the order of the file.
    /// Their fields follow those of the other columns.
    std::vector<std::string>* others = nullptr;
};

/// A file whose first line names its columns, which may come in any order.
class CsvTable {
public:
    /// Reads the header. Returns kInvalid unless it has these columns, each once.
    [[nodiscard]] static Result<CsvTable> open(std::FILE* file, std::string name,
                                               const CsvColumns& columns);
    /// Reads the fields in the order of `columns`, the required ones first; a field is empty if the
    /// file lacks its optional column. Fields are UTF-8 and trimmed (core/values/unicode.hpp).
    /// @return false at the end, or kInvalid with the column of a field that is no text
    [[nodiscard]] Result<bool> next(CsvRow& row);
    [[nodiscard]] Error error_at(std::uint64_t line, const std::string& what) const {
        return reader_.error_at(line, what);
    }
    [[nodiscard]] Error not_utf8_at(std::uint64_t line, const std::string& column,
                                    std::string_view text) const;

private:
    CsvTable(CsvReader reader, std::string file)
        : reader_(std::move(reader)), file_(std::move(file)) {}

    CsvReader reader_;
    std::string file_;
    std::size_t fields_ = 0;                          ///< Fields in a row of the file.
    std::vector<std::string> names_;                  ///< Columns, as next() returns them.
    std::vector<std::optional<std::size_t>> places_;  ///< Index of each column in the file.
};

/// Passes every row of a CSV file to `add`, which returns an error for a wrong row. Returns the
/// errors of all rows, a line each.
[[nodiscard]] Status read_rows(const std::string& file, const CsvColumns& columns,
                               const std::function<Status(const CsvRow&)>& add);
/// Passes every row of an open CSV file to `add`, as read_rows() of a file's name does.
/// @param name  For messages.
[[nodiscard]] Status read_rows(std::FILE* file, const std::string& name, const CsvColumns& columns,
                               const std::function<Status(const CsvRow&)>& add);

}  // namespace sluice::cli
