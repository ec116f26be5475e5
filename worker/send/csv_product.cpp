#include "worker/send/csv_product.hpp"

#include <algorithm>

#include "core/json/document.hpp"
#include "worker/cli/output.hpp"
#include "worker/send/misspelling.hpp"

namespace sluice::cli {
namespace {

Error invalid(std::string message) {
    return {ErrorCode::kInvalid, std::move(message)};
}

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

Result<std::string> value_json(const ProductField& field, std::string_view cell) {
    const bool looks_like_json = cell.front() == '[' || cell.front() == '{';
    switch (field.type) {
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
        return invalid(std::string(field.name) + ": expected JSON");
    }
    return std::string(cell);
}

}  // namespace

Result<CsvProducts> CsvProducts::from_header(const std::vector<std::string>& names) {
    CsvProducts products;
    const auto known_fields = product_table().fields;
    for (const std::string& name : names) {
        const auto known = std::find_if(known_fields.begin(), known_fields.end(),
                                        [&](const auto& field) { return field.name == name; });
        if (known == known_fields.end()) {
            const auto meant = resembled_field(product_table(), name);
            return invalid("no product record has a field '" + printable(name) + "'" +
                           (meant ? "; did you mean " + std::string(*meant) + "?" : ""));
        }
        if (std::count(names.begin(), names.end(), name) > 1) {
            return invalid("the column " + name + " comes twice");
        }
        products.fields_.push_back(&*known);
    }
    if (std::find(names.begin(), names.end(), "platform_product_id") == names.end()) {
        return invalid("expected a header line with the column platform_product_id");
    }
    return products;
}

std::string CsvProducts::placed(const std::string& problem) const {
    const std::string_view name = std::string_view(problem).substr(0, problem.find_first_of(":.["));
    const auto column = std::find_if(fields_.begin(), fields_.end(),
                                     [&](const auto* field) { return field->name == name; });
    const std::string place =
        column == fields_.end() ? "" : ", column " + std::to_string(column - fields_.begin() + 1);
    return place + ": " + problem;
}

Result<std::string> CsvProducts::to_json(const std::vector<std::string>& fields) const {
    if (fields.size() != fields_.size()) {
        return invalid("expected " + std::to_string(fields_.size()) + " fields, found " +
                       std::to_string(fields.size()));
    }
    std::string object = "{";
    for (std::size_t i = 0; i < fields.size(); ++i) {
        if (fields[i].empty()) {
            continue;
        }
        auto value = value_json(*fields_[i], fields[i]);
        if (!value.ok()) {
            return value;
        }
        object += (object.size() == 1 ? "" : ",") + json_quoted(fields_[i]->name) + ":" + *value;
    }
    return object + "}";
}

}  // namespace sluice::cli
