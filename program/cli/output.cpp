#include "program/cli/output.hpp"

#include <algorithm>

#include "core/values/assert.hpp"
#include "core/values/texts.hpp"

namespace sluice::cli {
namespace {

void write(std::FILE* out, std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), out);
}

/// Counts the characters of UTF-8 text; each is taken to be one column wide.
std::size_t display_width(std::string_view text) {
    return static_cast<std::size_t>(std::ranges::count_if(
        text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0u) != 0x80u; }));
}

Columns columns_of(std::string_view names, Align align, bool in_table) {
    return mapped(lists::words_of(names), [align, in_table](std::string_view name) {
        return Column{name, align, in_table};
    });
}

}  // namespace

Option add_format(Subcommand app, Format& target, const std::string& help) {
    return add_word<Format>(
        app, "--format", target,
        {{"table", Format::kTable}, {"json", Format::kJson}, {"csv", Format::kCsv}}, help);
}

void add_csv_line(std::string& text, const std::vector<std::string>& cells) {
    text += joined(cells, ",", [](const std::string& cell) { return csv_field(cell); }) + "\n";
}

std::string grouped(std::uint64_t number) {
    std::string text = std::to_string(number);
    for (std::size_t place = text.size(); place > 3;) {
        place -= 3;
        text.insert(place, ",");
    }
    return text;
}

Columns operator+(Columns columns, const Columns& more) {
    columns.insert(columns.end(), more.begin(), more.end());
    return columns;
}

Columns left(std::string_view names) {
    return columns_of(names, Align::kLeft, true);
}

Columns right(std::string_view names) {
    return columns_of(names, Align::kRight, true);
}

Columns in_files(std::string_view names, Align align) {
    return columns_of(names, align, false);
}

std::vector<Column> printed(const std::vector<lists::Column>& columns) {
    std::vector<Column> shown;
    for (const lists::Column& column : columns) {
        const bool is_number = column.type == lists::ColumnType::kInteger ||
                               column.type == lists::ColumnType::kAmount ||
                               column.type == lists::ColumnType::kRate;
        shown.push_back({column.name, is_number ? Align::kRight : Align::kLeft,
                         column.shown == lists::Shown::kInTable});
    }
    return shown;
}

Listing::Listing(Format format, std::vector<Column> columns, std::FILE* out)
    : format_(format), columns_(std::move(columns)), out_(out) {
    if (format_ == Format::kCsv) {
        write_csv(mapped(columns_, [](const Column& column) { return std::string(column.name); }));
    }
}

bool Listing::shows(const Column& column) const noexcept {
    return format_ != Format::kTable || column.in_table;
}

void Listing::add(const Row& row) {
    if (format_ == Format::kJson) {
        write_json(indented(object_of(columns_, row).compact(), 1));
        return;
    }
    SLUICE_ASSERT(row.size() <= columns_.size());
    std::vector<std::string> cells;
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        if (shows(columns_[i])) {
            cells.push_back(i < row.size() ? row[i].cell() : std::string());
        }
    }
    add_cells(std::move(cells));
}

void Listing::add_raw(const std::vector<JsonMember>& row) {
    if (format_ == Format::kJson) {
        std::string object = "{";
        for (const JsonMember& member : row) {
            object += (object.size() == 1 ? "" : ",") + json_quoted(member.key) + ":";
            object += member.value;
        }
        write_json(indented(object + "}", 1));
        return;
    }
    std::vector<std::string> cells;
    for (const Column& column : columns_) {
        const auto found = std::ranges::find(row, column.name, &JsonMember::key);
        if (shows(column)) {
            cells.push_back(found == row.end() ? std::string()
                                               : lists::raw_cell_text(found->value));
        }
    }
    add_cells(std::move(cells));
}

void Listing::add_cells(std::vector<std::string> cells) {
    format_ == Format::kCsv ? write_csv(cells) : write_table(std::move(cells));
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
    add_csv_line(line_, cells);
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
        if (column.in_table) {
            names.emplace_back(column.name);
            aligns_.push_back(column.align);
            widths_.push_back(column.name.size());
        }
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
        const bool right = aligns_[i] == Align::kRight;
        line_ += (i == 0 ? "" : "  ");
        line_ += right ? std::string(gap, ' ') + cells[i] : cells[i];
        if (!right && i + 1 < cells.size()) {
            line_.append(gap, ' ');
        }
    }
    line_ += '\n';
    write(out_, line_);
}

namespace {

bool is_object_list(const Json& value) {
    return !value.items().empty() && value.names().empty() &&
           !value.items().front().names().empty();
}

/// The columns of members with these names. The names must outlive them.
Columns columns_named(const std::vector<std::string>& names) {
    return mapped(names, [](const std::string& name) { return Column{name}; });
}

/// `code=SAVE valid_from=2026-01-01T00:00:00Z`, without members that are null or empty; objects of
/// a list with a `;` between.
Json readable(const Json& value) {
    std::string text;
    if (is_object_list(value)) {
        for (const Json& item : value.items()) {
            text += (text.empty() ? "" : "; ") + readable(item).cell();
        }
        return text;
    }
    for (std::size_t i = 0; i < value.names().size(); ++i) {
        const std::string cell = readable(value.items()[i]).cell();
        text += cell.empty() ? "" : (text.empty() ? "" : " ") + value.names()[i] + "=" + cell;
    }
    return value.names().empty() ? value : Json(text);
}

}  // namespace

void write_table(const std::string& name, const Json& list, std::FILE* out) {
    write(out, "\n" + name + "\n");
    Listing listing(Format::kTable, columns_named(list.items().front().names()), out);
    for (const Json& item : list.items()) {
        listing.add(mapped(item.items(), readable));
    }
    listing.finish();
}

Status write_object(Format format, const Result<Json>& object) {
    if (!object.ok()) {
        return object.error();
    }
    write_object(format, *object);
    return Status::success();
}

void write_object(Format format, const Json& object, std::FILE* out) {
    if (format == Format::kJson) {
        write(out, object.pretty() + "\n");
        return;
    }
    if (format == Format::kCsv) {
        Listing listing(format, columns_named(object.names()), out);
        listing.add(object.items());
        listing.finish();
        return;
    }
    std::size_t width = 0;
    for (const std::string& name : object.names()) {
        width = std::max(width, name.size());
    }
    for (std::size_t i = 0; i < object.names().size(); ++i) {
        const std::string& name = object.names()[i];
        if (!is_object_list(object.items()[i])) {
            write(out, name + std::string(width + 2 - name.size(), ' ') +
                           printable(readable(object.items()[i]).cell()) + "\n");
        }
    }
    for (std::size_t i = 0; i < object.names().size(); ++i) {
        if (is_object_list(object.items()[i])) {
            write_table(object.names()[i], object.items()[i], out);
        }
    }
}

}  // namespace sluice::cli
