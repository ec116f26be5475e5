#include "tool/send/source.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "core/json/document.hpp"
#include "core/values/lookup.hpp"
#include "program/cli/csv_reader.hpp"
#include "program/cli/output.hpp"
#include "program/system/file.hpp"
#include "tool/send/misspelling.hpp"

namespace sluice::cli {

namespace {

bool is_json_number(std::string_view cell) {
    JsonDocument value;
    return value.parse(cell) && value.root().is_number();
}

std::string words_json(std::string_view cell) {
    Json words = Json::array();
    while (!cell.empty()) {
        const std::size_t end = std::min(cell.find(';'), cell.size());
        words.push_back(cell.substr(0, end));
        cell.remove_prefix(std::min(end + 1, cell.size()));
    }
    return words.compact();
}

Result<std::string> value_json(const std::string& name, FieldType type, std::string_view cell) {
    const bool looks_like_json = cell.front() == '[' || cell.front() == '{';
    switch (type) {
        case FieldType::kInteger:
        case FieldType::kNumber:
            return is_json_number(cell) ? std::string(cell) : json_quoted(cell);
        case FieldType::kBoolean:
            return cell == "true" || cell == "false" ? std::string(cell) : json_quoted(cell);
        case FieldType::kTextList:
            if (!looks_like_json) {
                return words_json(cell);
            }
            break;
        case FieldType::kObject:
        case FieldType::kObjectList:
            break;
        default:
            return json_quoted(cell);
    }
    if (JsonDocument value; !looks_like_json || !value.parse(cell)) {
        return invalid(name + ": expected JSON");
    }
    return std::string(cell);
}

}  // namespace

Result<CsvRecords> CsvRecords::of(
    const std::vector<std::string>& header, std::span<const std::string> required,
    const std::function<Result<FieldType>(const std::string&)>& type_of) {
    CsvRecords records;
    for (const std::string& name : header) {
        const auto type = type_of(name);
        if (!type.ok()) {
            return type.error();
        }
        if (std::ranges::count(header, name) > 1) {
            return invalid("the column " + name + " comes twice");
        }
        records.columns_.push_back({name, *type});
    }
    for (const std::string& name : required) {
        if (!has_item(header, name)) {
            return invalid("expected a header line with the column " + name);
        }
    }
    return records;
}

Result<CsvRecords> CsvRecords::of_products(const std::vector<std::string>& header) {
    const std::array required{std::string("platform_product_id")};
    return of(header, required, [](const std::string& name) -> Result<FieldType> {
        const auto fields = product_table().fields;
        const ProductField* const known = find_item(fields, name, &ProductField::name);
        if (known == nullptr) {
            const auto meant = resembled_field(product_table(), name);
            return invalid("no product record has a field '" + printable(name) + "'" +
                           (meant ? "; did you mean " + std::string(*meant) + "?" : ""));
        }
        return known->type;
    });
}

Result<CsvRecords> CsvRecords::of_clicks(const std::vector<std::string>& header,
                                         const std::string& anon_field) {
    const std::array required{anon_field, std::string("program_id"), std::string("creator_id"),
                              std::string("occurred_at")};
    return of(header, required, [&required](const std::string& name) -> Result<FieldType> {
        return name == "link_id" || std::ranges::count(required, name) != 0
                   ? Result(FieldType::kText)
                   : invalid("no click has a field '" + printable(name) + "'");
    });
}

Result<std::string> CsvRecords::to_json(const std::vector<std::string>& fields) const {
    if (fields.size() != columns_.size()) {
        return invalid("expected " + std::to_string(columns_.size()) + " fields, found " +
                       std::to_string(fields.size()));
    }
    std::string object = "{";
    for (std::size_t i = 0; i < fields.size(); ++i) {
        if (fields[i].empty()) {
            continue;
        }
        auto value = value_json(columns_[i].name, columns_[i].type, fields[i]);
        if (!value.ok()) {
            return value;
        }
        object += (object.size() == 1 ? "" : ",") + json_quoted(columns_[i].name) + ":" + *value;
    }
    return object + "}";
}

std::string CsvRecords::placed(const std::string& problem) const {
    const std::string_view name = std::string_view(problem).substr(0, problem.find_first_of(":.["));
    const auto column = std::ranges::find(columns_, name, &Column::name);
    const std::string place =
        column == columns_.end() ? "" : ", column " + std::to_string(column - columns_.begin() + 1);
    return place + ": " + problem;
}

namespace {

/// An input file, and how much of it there is.
class Input {
public:
    static Result<Input> open(const std::string& path) {
        auto file = open_for_reading(path);
        if (!file.ok()) {
            return file.error();
        }
        struct stat info {};
        const bool sized = ::fstat(::fileno(file->get()), &info) == 0 && info.st_size > 0;
        return Input(std::move(file).value(), path,
                     sized ? static_cast<std::uint64_t>(info.st_size) : 0);
    }

    [[nodiscard]] std::FILE* file() const noexcept { return file_.get(); }
    [[nodiscard]] const std::string& path() const noexcept { return path_; }
    [[nodiscard]] std::uint64_t bytes_total() const noexcept { return bytes_; }
    [[nodiscard]] std::uint64_t bytes_read() const noexcept {
        const off_t at = ::ftello(file_.get());
        return at > 0 ? static_cast<std::uint64_t>(at) : 0;
    }

private:
    Input(UniqueFile file, std::string path, std::uint64_t bytes)
        : file_(std::move(file)), path_(std::move(path)), bytes_(bytes) {}

    UniqueFile file_;
    std::string path_;
    std::uint64_t bytes_;
};

class NdjsonSource : public RecordFile {
public:
    explicit NdjsonSource(Input input) : input_(std::move(input)), lines_(input_.file()) {}

    Result<bool> next(SendRecord& record) override {
        for (std::string_view text; lines_.next(text);) {
            const std::uint64_t bytes = text.size();
            for (const char end : {'\n', '\r'}) {
                if (!text.empty() && text.back() == end) {
                    text.remove_suffix(1);
                }
            }
            if (text.find_first_not_of(" \t") != std::string_view::npos) {
                record = {lines_.number(), 0, bytes, std::string(text), {}};
                return true;
            }
        }
        return lines_.failed() ? Error{ErrorCode::kIo, input_.path() + ": cannot be read"}
                               : Result(false);
    }
    std::uint64_t bytes_total() const noexcept override { return input_.bytes_total(); }
    std::uint64_t bytes_read() const noexcept override { return input_.bytes_read(); }

private:
    Input input_;
    FileLines lines_;
};

class CsvSource : public RecordFile {
public:
    CsvSource(Input input, CsvReader reader, CsvRecords columns)
        : input_(std::move(input)), reader_(std::move(reader)), columns_(std::move(columns)) {}

    Result<bool> next(SendRecord& record) override {
        CsvRow row;
        auto got = reader_.next(row);
        if (!got.ok() || !got.value()) {
            return got;
        }
        auto text = columns_.to_json(row.fields);
        const std::uint64_t end = input_.bytes_read();
        record = {row.line, ++row_, end - end_, text.ok() ? std::move(text).value() : std::string(),
                  text.ok() ? std::string() : text.error().message};
        end_ = end;
        return true;
    }
    std::uint64_t bytes_total() const noexcept override { return input_.bytes_total(); }
    std::uint64_t bytes_read() const noexcept override { return input_.bytes_read(); }
    std::string placed(const SendRecord& record, const std::string& problem) const override {
        return "row " + std::to_string(record.row) + columns_.placed(problem);
    }

private:
    Input input_;
    CsvReader reader_;
    CsvRecords columns_;
    std::uint64_t row_ = 1;  ///< The header.
    std::uint64_t end_ = 0;  ///< End of the row that was read last.
};

class WatchedSource : public RecordFile {
public:
    WatchedSource(std::unique_ptr<RecordFile> source, Rejects* doubts)
        : source_(std::move(source)), doubts_(doubts) {}

    Result<bool> next(SendRecord& record) override {
        auto got = source_->next(record);
        if (!got.ok() || !*got || !record.problem.empty()) {
            return got;
        }
        if (!json_.parse(record.text)) {
            return got;  // the protocol reports invalid JSON
        }
        for (std::string& doubt : misspelt_fields(json_.root())) {
            if (doubts_ != nullptr) {
                doubts_->add(record.line, source_->placed(record, doubt));
            } else if (record.problem.empty()) {
                record.problem = std::move(doubt);
            }
        }
        return got;
    }
    std::uint64_t bytes_total() const noexcept override { return source_->bytes_total(); }
    std::uint64_t bytes_read() const noexcept override { return source_->bytes_read(); }
    std::string placed(const SendRecord& record, const std::string& problem) const override {
        return source_->placed(record, problem);
    }

private:
    std::unique_ptr<RecordFile> source_;
    Rejects* doubts_;
    JsonDocument json_;
};

}  // namespace

Result<std::unique_ptr<RecordFile>> open_ndjson(const std::string& path) {
    return Input::open(path).and_then(
        [](Input input) { return Result(std::make_unique<NdjsonSource>(std::move(input))); });
}

namespace {

/// @param columns_of  Returns the columns of a header.
Result<std::unique_ptr<RecordFile>> open_csv(
    const std::string& path,
    const std::function<Result<CsvRecords>(const std::vector<std::string>&)>& columns_of) {
    auto input = Input::open(path);
    if (!input.ok()) {
        return input.error();
    }
    CsvReader reader(input->file(), path);
    CsvRow header;
    auto got = reader.next(header);
    if (!got.ok()) {
        return got.error();
    }
    auto columns = columns_of(got.value() ? header.fields : std::vector<std::string>());
    if (!columns.ok()) {
        return reader.error_at(1, columns.error().message);
    }
    return std::unique_ptr<RecordFile>(
        new CsvSource(std::move(input).value(), std::move(reader), std::move(columns).value()));
}

}  // namespace

Result<std::unique_ptr<RecordFile>> open_product_csv(const std::string& path) {
    return open_csv(path, CsvRecords::of_products);
}

Result<std::unique_ptr<RecordFile>> open_click_csv(const std::string& path,
                                                   const std::string& anon_field) {
    return open_csv(path, [&](const std::vector<std::string>& header) {
        return CsvRecords::of_clicks(header, anon_field);
    });
}

std::unique_ptr<RecordFile> watched_for_misspellings(std::unique_ptr<RecordFile> source,
                                                     Rejects* doubts) {
    return std::make_unique<WatchedSource>(std::move(source), doubts);
}

}  // namespace sluice::cli
