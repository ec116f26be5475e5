#include "program/cli/csv_reader.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/values/shell_word.hpp"
#include "core/values/texts.hpp"
#include "core/values/unicode.hpp"
#include "program/system/file.hpp"

namespace sluice::cli {
namespace {

constexpr std::size_t kFaultsMax = 1000;  ///< Wrong rows that are listed.

}  // namespace

Error error_at(const std::string& name, std::uint64_t line, const std::string& what) {
    return invalid(name + ":" + std::to_string(line) + ": " + what);
}

void skip_byte_order_mark(std::FILE* file) {
    constexpr std::array<int, 3> kMark{0xEF, 0xBB, 0xBF};
    std::size_t read = 0;
    int c = 0;
    while (read < kMark.size() && (c = ::getc_unlocked(file)) == kMark[read]) {
        ++read;
    }
    if (read == kMark.size()) {
        return;
    }
    if (c != EOF) {
        std::ungetc(c, file);
    }
    while (read != 0) {  // another character that begins alike, such as a full-width letter
        std::ungetc(kMark[--read], file);
    }
}

CsvReader::CsvReader(std::FILE* file, std::string name, std::size_t row_bytes_max, char separator)
    : file_(file), name_(std::move(name)), row_bytes_max_(row_bytes_max), separator_(separator) {
    skip_byte_order_mark(file);
}

bool CsvReader::ends_field(int c) const noexcept {
    return c == separator_ || c == '\n' || c == '\r' || c == EOF;
}

Error CsvReader::error_at(std::uint64_t line, const std::string& what) const {
    return cli::error_at(name_, line, what);
}

Error CsvReader::too_long(std::uint64_t line) const {
    return error_at(line, "the row is longer than " + std::to_string(row_bytes_max_ >> 20) + " MB");
}

int CsvReader::peek() {
    const int c = ::getc_unlocked(file_);
    if (c != EOF) {
        std::ungetc(c, file_);
    }
    return c;
}

int CsvReader::take() {
    const int c = ::getc_unlocked(file_);
    line_ += c == '\n' ? 1 : 0;
    ++row_bytes_;
    return c;
}

/// True if a line end (LF, CRLF, CR) was there.
bool CsvReader::skip_line_end() {
    const int c = peek();
    if (c != '\r' && c != '\n') {
        return false;
    }
    (void)take();
    if (c == '\r' && peek() == '\n') {
        (void)take();
    }
    return true;
}

Result<bool> CsvReader::next(CsvRow& row) {
    while (skip_line_end()) {
    }
    row.fields.clear();
    row.line = line_;
    row_bytes_ = 0;
    if (peek() == EOF) {
        return std::ferror(file_) == 0 ? Result<bool>(false)
                                       : Error{ErrorCode::kIo, name_ + ": cannot be read"};
    }
    while (true) {
        std::string field;
        if (Status read = peek() == '"' ? read_quoted(field) : read_plain(field); !read.ok()) {
            return read.error();
        }
        row.fields.push_back(std::move(field));
        if (peek() != separator_) {
            (void)skip_line_end();
            return true;
        }
        (void)take();
    }
}

Status CsvReader::read_plain(std::string& field) {
    while (!ends_field(peek())) {
        const int c = take();
        if (c == '"') {
            return error_at(line_, "a quote inside a field that does not begin with one");
        }
        field += static_cast<char>(c);
        if (row_bytes_ > row_bytes_max_) {
            return too_long(line_);
        }
    }
    return Status::success();
}

Status CsvReader::read_quoted(std::string& field) {
    const std::uint64_t opened_at = line_;
    (void)take();
    while (true) {
        const int c = take();
        if (c == EOF) {
            return error_at(opened_at, "the quote that begins here is never closed");
        }
        if (row_bytes_ > row_bytes_max_) {
            return too_long(opened_at);
        }
        if (c == '"' && peek() != '"') {
            break;
        }
        if (c == '"') {
            (void)take();
        }
        field += static_cast<char>(c);
    }
    if (!ends_field(peek())) {
        return error_at(line_, std::string("expected ") +
                                   (separator_ == ',' ? "a comma" : "the separator") +
                                   " or the end of the line after a closing quote");
    }
    return Status::success();
}

Result<CsvTable> CsvTable::open(std::FILE* file, std::string name, const CsvColumns& columns) {
    CsvTable table(CsvReader(file, name), name);
    CsvRow header;
    auto got = table.reader_.next(header);
    if (!got.ok()) {
        return got.error();
    }
    for (std::string& column : header.fields) {
        if (!is_utf8(column)) {
            return table.not_utf8_at(header.line, "the header", column);
        }
        column = std::string(trim_text(column));
    }
    std::vector<std::string> left = got.value() ? header.fields : std::vector<std::string>();
    bool complete = true;
    const auto find = [&](const std::string& column, bool required) {
        const auto place = std::ranges::find(header.fields, column);
        const bool found = place != header.fields.end();
        complete = complete && (found || !required);
        table.names_.push_back(column);
        table.places_.push_back(
            found ? std::optional(static_cast<std::size_t>(place - header.fields.begin()))
                  : std::nullopt);
        if (const auto named = std::ranges::find(left, column); named != left.end()) {
            left.erase(named);
        }
    };
    for (const std::string& column : columns.required) {
        find(column, true);
    }
    for (const std::string& column : columns.optional) {
        find(column, false);
    }
    if (columns.others != nullptr) {
        columns.others->assign(left.begin(), left.end());
        for (const std::string& column : *columns.others) {
            find(column, false);
        }
    }
    if (!got.value() || !complete || !left.empty()) {
        return table.error_at(
            1,
            "expected a header line with the columns " + joined(columns.required, ",") +
                (columns.optional.empty() ? "" : ", and any of " + joined(columns.optional, ",")) +
                (left.empty() ? "" : "; found '" + left.front() + "'"));
    }
    table.fields_ = header.fields.size();
    return table;
}

Result<bool> CsvTable::next(CsvRow& row) {
    CsvRow raw;
    auto got = reader_.next(raw);
    if (!got.ok() || !got.value()) {
        return got;
    }
    if (raw.fields.size() != fields_) {
        return error_at(raw.line, "expected " + std::to_string(fields_) + " fields, found " +
                                      std::to_string(raw.fields.size()));
    }
    row.line = raw.line;
    row.fields.clear();
    for (std::size_t i = 0; i < places_.size(); ++i) {
        const std::string_view field =
            places_[i] ? std::string_view(raw.fields[*places_[i]]) : std::string_view();
        if (!is_utf8(field)) {
            return not_utf8_at(raw.line, names_[i], field);
        }
        if (field.find('\0') != std::string_view::npos) {
            return error_at(raw.line, names_[i] + ": expected no U+0000");
        }
        row.fields.emplace_back(trim_text(field));
    }
    return true;
}

std::string not_utf8(const std::string& file, std::string_view text) {
    const std::string encoding(likely_encoding(text));
    return encoding.empty()
               ? "not UTF-8: save the file as UTF-8"
               : "not UTF-8; the file looks like " + encoding + ": make it UTF-8 with `iconv -f " +
                     encoding + " -t UTF-8 " + shell_word(file) + " > NEW_FILE`";
}

Error CsvTable::not_utf8_at(std::uint64_t line, const std::string& column,
                            std::string_view text) const {
    return error_at(line, column + ": " + not_utf8(file_, text));
}

Status read_rows(const std::string& file, const CsvColumns& columns,
                 const std::function<Status(const CsvRow&)>& add) {
    return open_for_reading(file).and_then(
        [&](const UniqueFile& input) { return read_rows(input.get(), file, columns, add); });
}

Status read_rows(std::FILE* input, const std::string& file, const CsvColumns& columns,
                 const std::function<Status(const CsvRow&)>& add) {
    auto table = CsvTable::open(input, file, columns);
    if (!table.ok()) {
        return table.error();
    }
    CsvRow row;
    std::string faults;
    std::size_t faults_count = 0;
    while (true) {
        auto got = table->next(row);
        if (!got.ok()) {
            return Error{got.error().code, faults + got.error().message};
        }
        if (!got.value()) {
            break;
        }
        if (Status added = add(row); !added.ok() && ++faults_count <= kFaultsMax) {
            faults += table->error_at(row.line, added.error().message).message + "\n";
        }
    }
    if (faults_count == 0) {
        return Status::success();
    }
    faults.pop_back();
    return invalid(faults_count > kFaultsMax
                       ? faults + "\n" + file + ": " + std::to_string(faults_count - kFaultsMax) +
                             " more lines are wrong"
                       : faults);
}

}  // namespace sluice::cli
