#include "core/exports/line.hpp"

#include <algorithm>

#include "core/json/slices.hpp"
#include "core/json/value.hpp"
#include "core/lists/row_output.hpp"
#include "core/values/assert.hpp"
#include "core/values/unicode.hpp"

namespace sluice::exports {
namespace {

/// Returns whether a text is the same in quotes of JSON, and needs no quotes in CSV.
bool is_plain(std::string_view text) {
    return std::ranges::all_of(
        text, [](char c) { return c >= ' ' && c < '\x7f' && c != '"' && c != '\\' && c != ','; });
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

ExportLine::ExportLine(ExportFormat format, const std::vector<Column>& columns)
    : format_(format), columns_(&columns) {
    for (const Column& column : columns) {
        const bool is_first = names_.empty();
        names_.push_back(format == ExportFormat::kCsv
                             ? (is_first ? "" : ",")
                             : (is_first ? "{" : ",") + json_quoted(column.name) + ":");
    }
}

std::string ExportLine::header() const {
    std::string header;
    for (std::size_t i = 0; format_ == ExportFormat::kCsv && i < columns_->size(); ++i) {
        header += names_[i] + std::string((*columns_)[i].name);
    }
    return header.empty() ? header : header + "\n";
}

void ExportLine::begin_value() {
    SLUICE_ASSERT(at_ < columns_->size());
    if (at_ == 0) {
        line_.clear();
    }
    line_ += names_[at_++];
}

void ExportLine::append_csv(std::string_view value) {
    if (is_plain(value)) {
        line_ += value;
    } else {
        line_ += lists::csv_field(valid_utf8(value));
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
        line_ += json_quoted(value);
    }
}

void ExportLine::append(std::string_view text) {
    append_value(text, true);
}

void ExportLine::append(const std::vector<std::string>& texts) {
    std::string list;
    for (const std::string& text : texts) {
        SLUICE_ASSERT(text.find(';') == std::string::npos);
        const bool is_first = list.empty();
        if (format_ == ExportFormat::kCsv) {
            list += (is_first ? "" : ";") + text;
        } else {
            list += (is_first ? "" : ",") + json_quoted(text);
        }
    }
    append_value(format_ == ExportFormat::kCsv ? list : "[" + list + "]", false);
}

void ExportLine::append(std::monostate /*null*/) {
    append_value(format_ == ExportFormat::kCsv ? "" : "null", false);
}

void ExportLine::add(const lists::Value& value) {
    begin_value();
    SLUICE_ASSERT(fits((*columns_)[at_ - 1].type, value));
    std::visit([this](const auto& held) { append(held); }, value.held());
}

void ExportLine::add_json(std::string_view value) {
    begin_value();
    if (value == "null") {
        append(std::monostate());
    } else if ((*columns_)[at_ - 1].type == ColumnType::kText) {
        append(is_json_string(value) ? json_string(value) : std::string(value));
    } else {
        const bool is_one_line = value.find_first_of("\r\n") == std::string_view::npos;
        append_value(is_one_line ? std::string(value) : Json::from_text(value).compact(), false);
    }
}

std::string_view ExportLine::end() {
    SLUICE_ASSERT(at_ == columns_->size());
    at_ = 0;
    line_ += format_ == ExportFormat::kCsv ? "\n" : "}\n";
    return line_;
}

}  // namespace sluice::exports
