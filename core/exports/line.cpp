#include "core/exports/line.hpp"

#include <algorithm>

#include "core/json/slices.hpp"
#include "core/reports/json.hpp"
#include "core/reports/row_output.hpp"
#include "core/values/assert.hpp"
#include "core/values/unicode.hpp"

namespace sluice::exports {
namespace {

/// Returns whether a text is the same in quotes of JSON, and needs no quotes in CSV.
bool is_plain(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) {
        return c >= ' ' && c < '\x7f' && c != '"' && c != '\\' && c != ',';
    });
}

/// Replaces bytes that are not UTF-8 by U+FFFD, because loaders refuse a file that has them.
std::string valid_utf8(std::string_view text) {
    std::string valid;
    while (!text.empty()) {
        const std::size_t bytes = utf8_bytes(text);
        valid += bytes == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(0, bytes);
        text.remove_prefix(std::max<std::size_t>(bytes, 1));
    }
    return valid;
}

}  // namespace

ExportLine::ExportLine(ExportFormat format, const std::vector<ExportColumn>& columns)
    : format_(format), columns_(&columns) {
    for (const ExportColumn& column : columns) {
        const bool is_first = names_.empty();
        names_.push_back(format == ExportFormat::kCsv
                             ? (is_first ? "" : ",")
                             : (is_first ? "{" : ",") + reports::json_quoted(column.name) + ":");
    }
}

std::string ExportLine::header() const {
    std::string header;
    for (std::size_t i = 0; format_ == ExportFormat::kCsv && i < columns_->size(); ++i) {
        header += names_[i] + std::string((*columns_)[i].name);
    }
    return header.empty() ? header : header + "\n";
}

ColumnType ExportLine::type() const {
    SLUICE_ASSERT(at_ < columns_->size());
    return (*columns_)[at_].type;
}

void ExportLine::begin_value(ColumnType wanted) {
    SLUICE_ASSERT(type() == wanted);
    if (at_ == 0) {
        line_.clear();
    }
    line_ += names_[at_++];
}

void ExportLine::append_csv(std::string_view value) {
    if (is_plain(value)) {
        line_ += value;
    } else {
        line_ += reports::csv_field(valid_utf8(value));
    }
}

void ExportLine::append_value(std::string_view value, bool is_string) {
    if (format_ == ExportFormat::kCsv) {
        append_csv(value);
    } else if (!is_string) {
        line_ += value;
    } else if (is_plain(value)) {
        line_ += '"';
        line_ += value;
        line_ += '"';
    } else {
        line_ += reports::json_quoted(value);
    }
}

ExportLine& ExportLine::text(std::string_view value) {
    begin_value(ColumnType::kText);
    append_value(value, true);
    return *this;
}

ExportLine& ExportLine::text_or_null(std::string_view value) {
    return value.empty() ? null() : text(value);
}

ExportLine& ExportLine::texts(const std::vector<std::string>& values) {
    begin_value(ColumnType::kTexts);
    std::string list;
    for (const std::string& value : values) {
        SLUICE_ASSERT(value.find(';') == std::string::npos);
        const bool is_first = list.empty();
        if (format_ == ExportFormat::kCsv) {
            list += (is_first ? "" : ";") + value;
        } else {
            list += (is_first ? "" : ",") + reports::json_quoted(value);
        }
    }
    append_value(format_ == ExportFormat::kCsv ? list : "[" + list + "]", false);
    return *this;
}

ExportLine& ExportLine::integer(std::uint64_t value) {
    begin_value(ColumnType::kInteger);
    append_value(std::to_string(value), false);
    return *this;
}

ExportLine& ExportLine::amount(const Decimal& value) {
    return amount(value.to_string());
}

ExportLine& ExportLine::amount(std::string_view value) {
    begin_value(ColumnType::kAmount);
    append_value(value, true);
    return *this;
}

ExportLine& ExportLine::flag(bool value) {
    begin_value(ColumnType::kFlag);
    append_value(value ? "true" : "false", false);
    return *this;
}

ExportLine& ExportLine::time(const Timestamp& value) {
    begin_value(ColumnType::kTime);
    append_value(value.to_string(), true);
    return *this;
}

ExportLine& ExportLine::time(const std::optional<Timestamp>& value) {
    return value ? time(*value) : null();
}

ExportLine& ExportLine::from_json(std::string_view value) {
    if (type() == ColumnType::kText) {
        return text(is_json_string(value) ? json_string(value) : std::string(value));
    }
    begin_value(type());
    const bool is_one_line = value.find_first_of("\r\n") == std::string_view::npos;
    append_value(is_one_line ? std::string(value) : reports::Json::from_text(value).compact(),
                 false);
    return *this;
}

ExportLine& ExportLine::null() {
    begin_value(type());
    append_value(format_ == ExportFormat::kCsv ? "" : "null", false);
    return *this;
}

std::string_view ExportLine::end() {
    SLUICE_ASSERT(at_ == columns_->size());
    at_ = 0;
    line_ += format_ == ExportFormat::kCsv ? "\n" : "}\n";
    return line_;
}

}  // namespace sluice::exports
