#include "worker/send/misspelling.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <utility>

namespace sluice::cli {

namespace {

/// Longer names are not compared, which would take time.
constexpr std::size_t kNameMax = 40;
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

/// Returns the number of letters that must be inserted, deleted, replaced or swapped with their
/// neighbour to turn one into the other. Requires: both are at most kNameMax long.
std::size_t distance(std::string_view a, std::string_view b) {
    using Row = std::array<std::size_t, kNameMax + 1>;
    Row before_last{}, last{}, row{};
    for (std::size_t j = 0; j <= b.size(); ++j) {
        last[j] = j;
    }
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                row[j] = std::min(row[j], before_last[j - 2] + 1);
            }
        }
        before_last = last;
        last = row;
    }
    return last[b.size()];
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
    if (letters.empty() || letters.size() > kNameMax) {
        return std::nullopt;
    }
    std::optional<std::string_view> nearest;
    std::size_t nearest_distance = letters.size() < kShortName ? 2 : 3;  // one more than may be
    for (const ProductField& field : table.fields) {
        const std::size_t far = distance(letters, letters_of(field.name));
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
