// List form: what kind of file a list is, by its first bytes. A refusal says what the file is, so
// that a person who sees the right column in a spreadsheet knows what to do.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "core/values/result.hpp"

namespace sluice::cli {

/// Returns the first bytes of a file, at most 1024, and leaves it at its beginning. Requires: the
/// file is at its beginning.
[[nodiscard]] std::string peek_head(std::FILE* file);

/// Refuses a file that is neither UTF-8 text of CSV nor of NDJSON: a spreadsheet, a compressed
/// file, UTF-16, a JSON array, an object over several lines.
[[nodiscard]] Status check_form(const std::string& path, std::string_view head);

/// Parses `;`, `tab`, or another character between the cells of a row.
[[nodiscard]] Result<char> parse_separator(std::string_view text);
/// Returns whether the row is `sep=;`, which spreadsheets read as the separator.
[[nodiscard]] bool is_separator_line(const std::vector<std::string>& row);
/// Returns what is wrong with a header that lacks a column: another separator, or the columns that
/// were read.
[[nodiscard]] std::string header_words(const std::vector<std::string>& header, char separator);

}  // namespace sluice::cli
