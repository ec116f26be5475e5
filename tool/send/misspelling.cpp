#include "tool/send/misspelling.hpp"

#include <cstddef>

#include "core/values/texts.hpp"
#include "program/cli/spelling.hpp"

namespace sluice::cli {

namespace {

constexpr std::size_t kShortName = 6;

/// Returns the name in lower case without separators: `listPrice`, `List-Price` and `list_price`
/// are equal then.
std::string letters_of(std::string_view name) {
    std::string letters;
    for (const char c : name) {
        if (c != '_' && c != '-' && c != ' ' && c != '.') {
            letters += ascii_lower(c);
        }
    }
    return letters;
}

const ProductField* field_of(const ProductTable& table, std::string_view name) {
    const std::size_t at = table.index.candidate(name);
    return at < table.fields.size() && table.fields[at].name == name ? &table.fields[at] : nullptr;
}

void find_misspelt(const ProductTable& table, const std::string& path,
                   const simdjson::dom::object& object, std::vector<std::string>& found) {
    for (const auto& [key, value] : object) {
        const std::string name = path + std::string(key);
        const ProductField* const field = field_of(table, key);
        if (field == nullptr) {
            if (const auto meant = resembled_field(table, key)) {
                found.push_back(name + ": no such field is known; did you mean " +
                                std::string(*meant) + "?");
            }
            continue;
        }
        simdjson::dom::object child;
        if (field->table != nullptr && value.get_object().get(child) == simdjson::SUCCESS) {
            find_misspelt(*field->table, name + ".", child, found);
        }
        simdjson::dom::array children;
        if (field->table == nullptr || value.get_array().get(children) != simdjson::SUCCESS) {
            continue;
        }
        std::size_t index = 0;
        for (const simdjson::dom::element element : children) {
            if (element.get_object().get(child) == simdjson::SUCCESS) {
                find_misspelt(*field->table, name + "[" + std::to_string(index) + "].", child,
                              found);
            }
            ++index;
        }
    }
}

}  // namespace

std::optional<std::string_view> resembled_field(const ProductTable& table, std::string_view name) {
    const std::string letters = letters_of(name);
    if (letters.empty() || letters.size() > kComparedNameMax) {
        return std::nullopt;
    }
    std::optional<std::string_view> nearest;
    std::size_t nearest_distance = letters.size() < kShortName ? 2 : 3;  // one more than may be
    for (const ProductField& field : table.fields) {
        const std::size_t far = spelling_distance(letters, letters_of(field.name));
        if (far < nearest_distance) {
            nearest = field.name;
            nearest_distance = far;
        }
    }
    return nearest;
}

std::vector<std::string> misspelt_fields(const simdjson::dom::element& record) {
    simdjson::dom::object object;
    std::vector<std::string> found;
    if (record.get_object().get(object) == simdjson::SUCCESS) {
        find_misspelt(product_table(), "", object, found);
    }
    return found;
}

}  // namespace sluice::cli
