#include "core/protocol/product_batch.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <vector>

#include "core/json/document.hpp"
#include "core/protocol/field_reader.hpp"
#include "core/protocol/product_fields.hpp"
#include "core/values/ids.hpp"
#include "core/values/money.hpp"

namespace sluice {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::element_type;
using simdjson::dom::object;

bool is_right_text(FieldType type, std::string_view text) noexcept {
    switch (type) {
        case FieldType::kId:
            return !text.empty() && text.size() <= kWireIdBytesMax;
        case FieldType::kNonEmptyText:
            return !text.empty();
        case FieldType::kText:
            return true;
        case FieldType::kLanguage:
            return is_iso639_1(text);
        case FieldType::kCountry:
            return is_iso3166_alpha2(text);
        case FieldType::kCurrency:
            return Currency::parse(text).has_value();
        case FieldType::kAvailability:
            return text == "in stock" || text == "out of stock";
        default:
            return false;
    }
}

/// Checks every type except strings, lists and objects.
bool is_right_plain(FieldType type, element_type sent) noexcept {
    const bool integer = sent == element_type::INT64 || sent == element_type::UINT64;
    switch (type) {
        case FieldType::kBoolean:
            return sent == element_type::BOOL;
        case FieldType::kInteger:
            return integer;
        case FieldType::kNumber:
            return integer || sent == element_type::DOUBLE;
        default:
            return false;
    }
}

}  // namespace

struct ProductBatchParser::State {
    JsonDocument json;
    std::vector<FieldError> errors;
    std::string_view batch_error;
    std::uint32_t products_count = 0;

    bool on_delete = false;
    std::uint32_t record = 0;    ///< The record being walked.
    std::size_t nuls_found = 0;  ///< In the fields that the walk looked at.

    [[nodiscard]] bool full() const noexcept { return errors.size() >= kErrorsMax; }
    /// Returns the array `products`, or nothing and sets `batch_error`.
    [[nodiscard]] bool find_products(array& products);
    void check_products(const array& products);
    void check_object(const ProductTable& table, const object& from, const FieldPlace& path);
    void check_field(const ProductField& field, const element& value, const FieldPlace& path);
    void check_text(FieldType type, const element& value, const FieldPlace& path);
    void check_list(const ProductField& field, const element& value, const FieldPlace& path);
    void check_element(const ProductField& field, const element& value, const FieldPlace& path);
    void check_nested(const ProductTable& table, const element& value, const FieldPlace& path);
    void add(const FieldPlace& path, FieldErrorCode code, std::string_view message);
};

void ProductBatchParser::State::add(const FieldPlace& path, FieldErrorCode code,
                                    std::string_view message) {
    if (!full()) {
        errors.push_back({path.text(), code, std::string(message), record});
    }
}

void ProductBatchParser::State::check_products(const array& products) {
    record = 0;
    for (const element& product : products) {
        if (full()) {
            return;
        }
        check_nested(product_table(), product, {nullptr, "products", record});
        ++record;
    }
}

/// The first pass puts the fields of the table into its order, because the sender may use any order
/// and unknown fields. The second pass checks them in that order.
void ProductBatchParser::State::check_object(const ProductTable& table, const object& from,
                                             const FieldPlace& path) {
    std::array<JsonSlot, NameIndex::kNamesMax> values;
    std::uint32_t present = 0;
    std::uint32_t repeated = 0;
    const auto end = from.end();
    for (auto at = from.begin(); at != end; ++at) {
        const std::string_view key = at.key();
        const std::size_t field = table.index.candidate(key);
        if (field < table.fields.size() && table.fields[field].name == key) {
            const std::uint32_t bit = 1U << field;
            repeated |= present & bit;
            present |= bit;
            values[field].value = at.value();
        }
    }
    const std::uint32_t required = on_delete ? table.required_on_delete : table.required_on_upsert;
    std::uint32_t to_check = present | required;
    to_check &= on_delete ? table.checked_on_delete : ~0U;
    for (; to_check != 0; to_check &= to_check - 1) {
        const auto position = static_cast<std::size_t>(std::countr_zero(to_check));
        const std::uint32_t bit = 1U << position;
        const ProductField& field = table.fields[position];
        const FieldPlace at{&path, field.name};
        if ((repeated & bit) != 0) {
            add(at, FieldErrorCode::kInvalidFormat, "appears more than once");
        } else if ((present & bit) == 0) {
            add(at, FieldErrorCode::kRequired, "is required");
        } else if (!values[position].value.is_null()) {
            check_field(field, values[position].value, at);
        } else if ((required & bit) != 0) {
            add(at, FieldErrorCode::kRequired, "is required and must not be null");
        } else if (!field.nullable) {
            add(at, FieldErrorCode::kInvalidFormat, "must not be null");
        }
    }
}

void ProductBatchParser::State::check_field(const ProductField& field, const element& value,
                                            const FieldPlace& path) {
    switch (field.type) {
        case FieldType::kTextList:
        case FieldType::kObjectList:
            check_list(field, value, path);
            return;
        case FieldType::kObject:
            check_nested(*field.table, value, path);
            return;
        case FieldType::kBoolean:
        case FieldType::kInteger:
        case FieldType::kNumber:
            if (!is_right_plain(field.type, value.type())) {
                add(path, FieldErrorCode::kInvalidFormat, expectation(field.type));
            }
            return;
        default:
            check_text(field.type, value, path);
    }
}

void ProductBatchParser::State::check_text(FieldType type, const element& value,
                                           const FieldPlace& path) {
    std::string_view text;
    if (value.get_string().get(text) != simdjson::SUCCESS || !is_right_text(type, text)) {
        add(path, FieldErrorCode::kInvalidFormat, expectation(type));
        return;
    }
    if (json.nul_count() > 0) {
        const auto nuls = std::ranges::count(text, '\0');
        nuls_found += static_cast<std::size_t>(nuls);
        if (nuls > 0) {
            add(path, FieldErrorCode::kInvalidFormat, "must not contain U+0000");
        }
    }
}

void ProductBatchParser::State::check_list(const ProductField& field, const element& value,
                                           const FieldPlace& path) {
    array elements;
    if (value.get_array().get(elements) != simdjson::SUCCESS) {
        add(path, FieldErrorCode::kInvalidFormat, expectation(field.type));
        return;
    }
    if (field.limit != 0 && elements.size() > field.limit) {
        add(path, FieldErrorCode::kInvalidFormat,
            "must have at most " + std::to_string(field.limit) + " elements");
    }
    std::size_t index = 0;
    for (const element& one : elements) {
        if (full()) {
            return;
        }
        check_element(field, one, {path.parent, path.name, index});
        ++index;
    }
}

void ProductBatchParser::State::check_element(const ProductField& field, const element& value,
                                              const FieldPlace& path) {
    if (field.type == FieldType::kObjectList) {
        check_nested(*field.table, value, path);
    } else {
        check_text(FieldType::kText, value, path);
    }
}

void ProductBatchParser::State::check_nested(const ProductTable& table, const element& value,
                                             const FieldPlace& path) {
    object from;
    if (value.get_object().get(from) == simdjson::SUCCESS) {
        // NOLINTNEXTLINE(misc-no-recursion): as deep as the tables refer to each other, 4 levels.
        check_object(table, from, path);
    } else {
        add(path, FieldErrorCode::kInvalidFormat, expectation(FieldType::kObject));
    }
}

bool ProductBatchParser::State::find_products(array& products) {
    object root;
    if (json.root().get_object().get(root) != simdjson::SUCCESS) {
        batch_error = "the body must be a JSON object with an array products";
        return false;
    }
    std::size_t times = 0;
    element value;
    for (const auto& [key, sent] : root) {
        if (key == "products") {
            value = sent;
            ++times;
        }
    }
    if (times > 1) {
        batch_error = "products appears more than once";
    } else if (times == 0 || value.get_array().get(products) != simdjson::SUCCESS ||
               products.size() == 0 || products.size() > kProductsMax) {
        batch_error = "products must be an array of 1 to 1000 records";
    }
    return batch_error.empty();
}

ProductBatchParser::ProductBatchParser() : state_(std::make_unique<State>()) {}
ProductBatchParser::~ProductBatchParser() = default;

BatchVerdict ProductBatchParser::validate(std::string_view body, Topic topic) {
    State& state = *state_;
    state.errors.clear();
    state.batch_error = {};
    state.products_count = 0;
    state.nuls_found = 0;
    state.on_delete = topic == Topic::kProductDelete;
    array products;
    if (!state.json.parse(body)) {
        state.batch_error = state.json.error();
    } else if (state.find_products(products)) {
        state.check_products(products);
        state.products_count = static_cast<std::uint32_t>(products.size());
        // U+0000 in a field that the walk checks is its error, and elsewhere the error of the body.
        if (state.errors.empty() && state.json.nul_count() > state.nuls_found) {
            state.batch_error = "strings must not contain U+0000, also not in unknown fields";
        }
    }
    if (!state.batch_error.empty()) {
        return BatchVerdict::kNotABatch;
    }
    return state.errors.empty() ? BatchVerdict::kValid : BatchVerdict::kRecordErrors;
}

void ProductBatchParser::trim() noexcept {
    state_->json.trim();
}

std::string_view ProductBatchParser::batch_error() const noexcept {
    return state_->batch_error;
}

std::span<const FieldError> ProductBatchParser::errors() const noexcept {
    return state_->errors;
}

std::uint32_t ProductBatchParser::products_count() const noexcept {
    return state_->products_count;
}

}  // namespace sluice
