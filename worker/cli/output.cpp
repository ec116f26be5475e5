#include "worker/cli/output.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "worker/cli/cli_values.hpp"
#include "worker/cli/raw_json.hpp"

namespace sluice::cli {
namespace {

void write(std::FILE* out, std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), out);
}

std::string dump(const Json& value, int indent) {
    return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

/// Characters that a terminal shows for UTF-8 text (each takes one place here).
std::size_t display_width(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0u) != 0x80u;
    }));
}

/// U+0080 to U+009F: control characters, which a terminal obeys as it obeys ESC.
bool begins_c1_control(std::string_view text) {
    return text.size() > 1 && text[0] == '\xC2' && static_cast<unsigned char>(text[1]) < 0xA0;
}

bool is_word_list(const Json& value) {
    return value.is_array() && std::all_of(value.begin(), value.end(),
                                           [](const Json& item) { return item.is_string(); });
}

/// A cell from JSON text; numbers stay as they are written.
std::string raw_cell_text(std::string_view json) {
    const char first = json.empty() ? 'n' : json.front();
    if (first != 'n' && first != '"' && first != '[') {
        return std::string(json);
    }
    const Json value = Json::parse(json);
    return value.is_array() && !is_word_list(value) ? std::string(json) : cell_text(value);
}

}  // namespace

Result<Format> parse_format(std::string_view text) {
    if (text == "table") {
        return Format::kTable;
    }
    if (text == "json") {
        return Format::kJson;
    }
    if (text == "csv") {
        return Format::kCsv;
    }
    return Error{ErrorCode::kInvalid, "expected table, json or csv"};
}

void add_format(CLI::App& app, Format& target) {
    add_value(app, "--format", "table|json|csv", target, parse_format,
              "How to write it (default table)");
}

std::string to_text(const Json& value) {
    return dump(value, 2);
}

std::string cell_text(const Json& value) {
    if (value.is_null()) {
        return {};
    }
    if (value.is_string()) {
        return value.get_ref<const std::string&>();
    }
    if (!is_word_list(value)) {
        return dump(value, -1);
    }
    std::string joined;
    for (const Json& item : value) {
        joined += (joined.empty() ? "" : ";") + item.get_ref<const std::string&>();
    }
    return joined;
}

std::string csv_field(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
        return std::string(text);
    }
    std::string quoted = "\"";
    for (const char c : text) {
        quoted.append(c == '"' ? 2 : 1, c);
    }
    return quoted + "\"";
}

std::string grouped(std::uint64_t number) {
    std::string text = std::to_string(number);
    for (std::size_t place = text.size(); place > 3;) {
        place -= 3;
        text.insert(place, ",");
    }
    return text;
}

std::string printable(std::string_view text) {
    static constexpr std::string_view kHex = "0123456789abcdef";
    std::string safe;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        if (byte < 0x20 || byte == 0x7F || begins_c1_control(text.substr(i))) {
            safe += "\\x";
            safe += kHex[byte >> 4u];
            safe += kHex[byte & 15u];
        } else {
            safe += text[i];
        }
    }
    return safe;
}

Listing::Listing(Format format, std::vector<Column> columns, std::FILE* out)
    : format_(format), columns_(std::move(columns)), out_(out) {
    if (format_ == Format::kTable) {
        columns_.erase(std::remove_if(columns_.begin(), columns_.end(),
                                      [](const Column& column) { return !column.in_table; }),
                       columns_.end());
    }
    if (format_ == Format::kCsv) {
        std::vector<std::string> names;
        for (const Column& column : columns_) {
            names.emplace_back(column.name);
        }
        write_csv(names);
    }
}

void Listing::add(const Json& row) {
    if (format_ == Format::kJson) {
        write_json(indented(dump(row, -1), 1));
        return;
    }
    std::vector<std::string> cells;
    cells.reserve(columns_.size());
    for (const Column& column : columns_) {
        const auto found = row.find(column.name);
        cells.push_back(found == row.end() ? std::string() : cell_text(*found));
    }
    add_cells(std::move(cells));
}

void Listing::add_raw(const std::vector<JsonMember>& row) {
    if (format_ == Format::kJson) {
        std::string object = "{";
        for (const JsonMember& member : row) {
            object += (object.size() == 1 ? "" : ",") + dump(member.key, -1) + ":";
            object += member.value;
        }
        write_json(indented(object + "}", 1));
        return;
    }
    std::vector<std::string> cells;
    cells.reserve(columns_.size());
    for (const Column& column : columns_) {
        const auto found = std::find_if(row.begin(), row.end(), [&](const JsonMember& member) {
            return member.key == column.name;
        });
        cells.push_back(found == row.end() ? std::string() : raw_cell_text(found->value));
    }
    add_cells(std::move(cells));
}

void Listing::add_cells(std::vector<std::string> cells) {
    if (format_ == Format::kCsv) {
        write_csv(cells);
    } else {
        write_table(std::move(cells));
    }
}

void Listing::finish() {
    if (format_ == Format::kJson) {
        write(out_, any_ ? "\n]\n" : "[]\n");
    }
    if (format_ == Format::kTable) {
        start_table();
    }
}

void Listing::write_json(std::string_view object) {
    write(out_, any_ ? ",\n  " : "[\n  ");
    write(out_, object);
    any_ = true;
}

void Listing::write_csv(const std::vector<std::string>& cells) {
    line_.clear();
    for (std::size_t i = 0; i < cells.size(); ++i) {
        line_ += i == 0 ? "" : ",";
        line_ += csv_field(cells[i]);
    }
    line_ += '\n';
    write(out_, line_);
}

void Listing::write_table(std::vector<std::string> cells) {
    for (std::string& cell : cells) {
        cell = cell.empty() ? "-" : printable(cell);
    }
    if (table_started_) {
        write_table_row(cells);
        return;
    }
    held_back_.push_back(std::move(cells));
    if (held_back_.size() == kRowsHeldBack) {
        start_table();
    }
}

void Listing::start_table() {
    if (table_started_) {
        return;
    }
    table_started_ = true;
    std::vector<std::string> names;
    for (const Column& column : columns_) {
        names.emplace_back(column.name);
        widths_.push_back(column.name.size());
    }
    for (const auto& cells : held_back_) {
        for (std::size_t i = 0; i < cells.size(); ++i) {
            widths_[i] = std::max(widths_[i], display_width(cells[i]));
        }
    }
    write_table_row(names);
    for (const auto& cells : held_back_) {
        write_table_row(cells);
    }
    held_back_.clear();
}

void Listing::write_table_row(const std::vector<std::string>& cells) {
    line_.clear();
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::size_t width = display_width(cells[i]);
        const std::size_t gap = width < widths_[i] ? widths_[i] - width : 0;
        const bool right = columns_[i].align == Align::kRight;
        line_ += (i == 0 ? "" : "  ");
        line_ += right ? std::string(gap, ' ') + cells[i] : cells[i];
        if (!right && i + 1 < cells.size()) {
            line_.append(gap, ' ');
        }
    }
    line_ += '\n';
    write(out_, line_);
}

void write_object(Format format, const Json& object, std::FILE* out) {
    if (format == Format::kJson) {
        write(out, to_text(object) + "\n");
        return;
    }
    std::vector<Column> columns;
    std::size_t width = 0;
    for (const auto& [name, value] : object.items()) {
        columns.push_back({name});
        width = std::max(width, name.size());
    }
    if (format == Format::kCsv) {
        Listing listing(format, columns, out);
        listing.add(object);
        listing.finish();
        return;
    }
    for (const auto& [name, value] : object.items()) {
        write(out, name + std::string(width + 2 - name.size(), ' ') + printable(cell_text(value)) +
                       "\n");
    }
}

}  // namespace sluice::cli
