#include "worker/send/misspelling.hpp"

#include <cstddef>
#include <utility>

#include "worker/cli/spelling.hpp"

namespace sluice::cli {

namespace {

constexpr std::size_t kShortName = 6;

/// Returns the name in lower case without separators: `listPrice`, `List-Price` and `list_price`
/// are equal then.
std::string letters_of(std::string_view name) {
    std::string letters;
    for (const char c : name) {
        if (c != '_' && c != '-' && c != ' ' && c != '.') {
            letters += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
        }
    }
    return letters;
}

const ProductField* field_of(const ProductTable& table, std::string_view name) {
    const std::size_t at = table.index.candidate(name);
    return at < table.fields.size() && table.fields[at].name == name ? &table.fields[at] : nullptr;
}

class FieldWalk {
public:
    void object(const ProductTable& table, const std::string& path,
                const simdjson::dom::object& object) {
        for (const auto& [key, value] : object) {
            if (const ProductField* field = field_of(table, key)) {
                inside(*field, path + std::string(key), value);
            } else if (const auto meant = resembled_field(table, key)) {
                found_.push_back(path + std::string(key) +
                                 ": no such field is known; did you mean " + std::string(*meant) +
                                 "?");
            }
        }
    }
    [[nodiscard]] std::vector<std::string> take() && { return std::move(found_); }

private:
    void inside(const ProductField& field, const std::string& path,
                const simdjson::dom::element& value) {
        if (field.table == nullptr) {
            return;
        }
        simdjson::dom::object child;
        if (value.get_object().get(child) == simdjson::SUCCESS) {
            object(*field.table, path + ".", child);
        }
        simdjson::dom::array children;
        if (value.get_array().get(children) != simdjson::SUCCESS) {
            return;
        }
        std::size_t index = 0;
        for (const simdjson::dom::element element : children) {
            if (element.get_object().get(child) == simdjson::SUCCESS) {
                object(*field.table, path + "[" + std::to_string(index) + "].", child);
            }
            ++index;
        }
    }

    std::vector<std::string> found_;
};

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
    FieldWalk walk;
    if (record.get_object().get(object) == simdjson::SUCCESS) {
        walk.object(product_table(), "", object);
    }
    return std::move(walk).take();
}

}  // namespace sluice::cli
