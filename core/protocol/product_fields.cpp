#include "core/protocol/product_fields.hpp"

#include <array>
#include <cstddef>

namespace sluice {
namespace {

using enum FieldType;

constexpr bool kNullable = true;

constexpr bool on_upsert(OnTopic topic) {
    return topic == OnTopic::kUpsert || topic == OnTopic::kBoth;
}
constexpr bool on_delete(OnTopic topic) {
    return topic == OnTopic::kDelete || topic == OnTopic::kBoth;
}

template <std::size_t N>
constexpr ProductTable make_table(std::string_view name,
                                  const std::array<ProductField, N>& fields) {
    static_assert(N <= NameIndex::kNamesMax);
    ProductTable table{name, fields,
                       NameIndex::make(fields, [](const ProductField& f) { return f.name; })};
    for (std::size_t i = 0; i < N; ++i) {
        const std::uint32_t bit = 1U << i;
        table.required_on_upsert |= on_upsert(fields[i].required) ? bit : 0;
        table.required_on_delete |= on_delete(fields[i].required) ? bit : 0;
        table.checked_on_delete |= on_delete(fields[i].checked) ? bit : 0;
    }
    return table;
}

// Omitted values are the defaults of ProductField.

constexpr std::array kRangeFields{
    ProductField{.name = "min", .type = kNumber, .note = "Lowest price"},
    ProductField{.name = "max", .type = kNumber, .note = "Highest price"},
};
constexpr ProductTable kRange = make_table("range", kRangeFields);

constexpr std::array kDiscountFields{
    ProductField{.name = "id", .type = kText, .note = "Identifier of the discount"},
};
constexpr ProductTable kDiscount = make_table("discount", kDiscountFields);

constexpr std::array kDiscountedPriceFields{
    ProductField{.name = "discount", .type = kObject, .table = &kDiscount, .note = "The discount"},
    ProductField{.name = "price", .type = kNumber, .note = "Price with that discount"},
};
constexpr ProductTable kDiscountedPrice = make_table("discounted price", kDiscountedPriceFields);

constexpr std::array kDiscountedPriceRangeFields{
    ProductField{.name = "discount", .type = kObject, .table = &kDiscount, .note = "The discount"},
    ProductField{
        .name = "range", .type = kObject, .table = &kRange, .note = "Prices with that discount"},
};
constexpr ProductTable kDiscountedPriceRange =
    make_table("discounted price range", kDiscountedPriceRangeFields);

constexpr std::array kPricesFields{
    ProductField{.name = "price", .type = kNumber, .nullable = kNullable, .note = "Regular price"},
    ProductField{.name = "priceRange",
                 .type = kObject,
                 .nullable = kNullable,
                 .table = &kRange,
                 .note = "Regular prices of the variants"},
    ProductField{
        .name = "salePrice", .type = kNumber, .nullable = kNullable, .note = "Discounted price"},
    ProductField{.name = "salePriceRange",
                 .type = kObject,
                 .nullable = kNullable,
                 .table = &kRange,
                 .note = "Discounted prices of the variants"},
    ProductField{.name = "promotionalPrice",
                 .type = kNumber,
                 .nullable = kNullable,
                 .note = "Price while a sitewide promotion applies"},
    ProductField{.name = "promotionalPriceRange",
                 .type = kObject,
                 .nullable = kNullable,
                 .table = &kRange,
                 .note = "Prices of the variants while a sitewide promotion applies"},
    ProductField{.name = "discountedPrices",
                 .type = kObjectList,
                 .limit = 10,
                 .table = &kDiscountedPrice,
                 .note = "Price for each discount"},
    ProductField{.name = "discountedPriceRanges",
                 .type = kObjectList,
                 .limit = 10,
                 .table = &kDiscountedPriceRange,
                 .note = "Prices of the variants for each discount"},
};
constexpr ProductTable kPrices = make_table("prices", kPricesFields);

constexpr std::array kVariantPriceFields{
    ProductField{.name = "list_price", .type = kNumber, .note = "Regular price"},
    ProductField{.name = "sale_price", .type = kNumber, .note = "Discounted price"},
    ProductField{.name = "currency_code", .type = kCurrency, .note = "Currency of both"},
    ProductField{.name = "allowed_region", .type = kText, .note = "Region where they apply"},
};
constexpr ProductTable kVariantPrice = make_table("variant price", kVariantPriceFields);

constexpr std::array kSelectedOptionFields{
    ProductField{.name = "name", .type = kText, .nullable = kNullable, .note = "Option name"},
    ProductField{.name = "value", .type = kText, .nullable = kNullable, .note = "Option value"},
};
constexpr ProductTable kSelectedOption = make_table("selected option", kSelectedOptionFields);

constexpr std::array kVariantFields{
    ProductField{.name = "variant_sku",
                 .type = kId,
                 .required = OnTopic::kUpsert,
                 .note = "External key of the variant"},
    ProductField{.name = "parent_id", .type = kId, .note = "Id of the parent product"},
    ProductField{.name = "position", .type = kInteger, .note = "Display order of the variant"},
    ProductField{.name = "title", .type = kText, .note = "Variant title"},
    ProductField{
        .name = "product_url", .type = kText, .nullable = kNullable, .note = "Variant page URL"},
    ProductField{.name = "image_src", .type = kText, .note = "Variant image URL"},
    ProductField{.name = "price", .type = kNumber, .nullable = kNullable, .note = "Variant price"},
    ProductField{.name = "list_price", .type = kNumber, .note = "Regular price"},
    ProductField{
        .name = "sale_price", .type = kNumber, .nullable = kNullable, .note = "Discounted price"},
    ProductField{.name = "currency_code", .type = kCurrency, .note = "Currency of the prices"},
    ProductField{
        .name = "availability", .type = kAvailability, .note = "`in stock` or `out of stock`"},
    ProductField{
        .name = "allowed_regions", .type = kTextList, .note = "Regions where the variant is sold"},
    ProductField{.name = "option1_name", .note = "Name of the first option"},
    ProductField{.name = "option2_name", .note = "Name of the second option"},
    ProductField{.name = "option3_name", .note = "Name of the third option"},
    ProductField{.name = "option1_value", .note = "Value of the first option"},
    ProductField{.name = "option2_value", .note = "Value of the second option"},
    ProductField{.name = "option3_value", .note = "Value of the third option"},
    ProductField{.name = "option1_swatch_src", .note = "Swatch image URL of the first option"},
    ProductField{.name = "option2_swatch_src", .note = "Swatch image URL of the second option"},
    ProductField{.name = "option3_swatch_src", .note = "Swatch image URL of the third option"},
    ProductField{.name = "prices",
                 .type = kObjectList,
                 .table = &kVariantPrice,
                 .note = "One price for each region or currency"},
    ProductField{.name = "selected_options",
                 .type = kObjectList,
                 .nullable = kNullable,
                 .limit = 100,
                 .table = &kSelectedOption,
                 .note = "Options that make up this variant"},
};
constexpr ProductTable kVariant = make_table("variant", kVariantFields);

constexpr std::array kProductFields{
    ProductField{.name = "platform_product_id",
                 .type = kId,
                 .required = OnTopic::kBoth,
                 .checked = OnTopic::kBoth,
                 .note = "Product identifier from the ecommerce platform"},
    ProductField{.name = "parent_id",
                 .type = kId,
                 .required = OnTopic::kDelete,
                 .checked = OnTopic::kBoth,
                 .note = "Parent product id; the product's own id when a record is created "
                         "without it"},
    ProductField{
        .name = "position", .type = kInteger, .note = "Display order; 0 for parent products"},
    ProductField{.name = "title",
                 .type = kNonEmptyText,
                 .required = OnTopic::kBoth,
                 .checked = OnTopic::kBoth,
                 .note = "Title"},
    ProductField{.name = "handle", .type = kText, .note = "Product handle or slug"},
    ProductField{.name = "brand", .type = kText, .nullable = kNullable, .note = "Brand name"},
    ProductField{.name = "active", .type = kBoolean, .note = "Whether the product is active"},
    ProductField{.name = "in_stock",
                 .type = kBoolean,
                 .nullable = kNullable,
                 .note = "Inventory availability flag"},
    ProductField{.name = "product_url",
                 .type = kText,
                 .nullable = kNullable,
                 .note = "Product detail page URL"},
    ProductField{
        .name = "image_src", .type = kText, .nullable = kNullable, .note = "Primary image URL"},
    ProductField{.name = "language",
                 .type = kLanguage,
                 .checked = OnTopic::kBoth,
                 .note = "Language of this localised copy"},
    ProductField{.name = "country",
                 .type = kCountry,
                 .checked = OnTopic::kBoth,
                 .note = "Country of this localised copy"},
    ProductField{.name = "list_price", .type = kNumber, .note = "Regular price"},
    ProductField{.name = "sale_price", .type = kNumber, .note = "Currently discounted price"},
    ProductField{.name = "currency_code", .type = kCurrency, .note = "Currency of both"},
    ProductField{.name = "price_currency_code",
                 .type = kCurrency,
                 .nullable = kNullable,
                 .note = "Currency of `prices`"},
    ProductField{
        .name = "availability", .type = kAvailability, .note = "`in stock` or `out of stock`"},
    ProductField{.name = "allowed_regions",
                 .type = kTextList,
                 .note = "Selling regions where the product is available"},
    ProductField{.name = "prices",
                 .type = kObject,
                 .nullable = kNullable,
                 .table = &kPrices,
                 .note = "Prices and price ranges"},
    ProductField{.name = "promotional_code",
                 .type = kText,
                 .nullable = kNullable,
                 .note = "Applied sitewide promotion code"},
    ProductField{.name = "collections",
                 .type = kTextList,
                 .nullable = kNullable,
                 .limit = 250,
                 .note = "Collection identifiers"},
    ProductField{.name = "tags",
                 .type = kTextList,
                 .nullable = kNullable,
                 .limit = 250,
                 .note = "Product tags"},
    ProductField{.name = "variants",
                 .type = kObjectList,
                 .nullable = kNullable,
                 .limit = 250,
                 .table = &kVariant,
                 .note = "Variants; a list that is sent replaces the stored one"},
};
constexpr ProductTable kProduct = make_table("product", kProductFields);

constexpr std::array<const ProductTable*, 9> kTables{
    &kProduct, &kPrices,  &kDiscountedPrice, &kDiscountedPriceRange, &kDiscount,
    &kRange,   &kVariant, &kVariantPrice,    &kSelectedOption};

struct TypeTexts {
    std::string_view name, expectation;
};
/// By FieldType.
constexpr std::array<TypeTexts, 13> kTypeTexts{{
    {"string of 1 to 1024 bytes", "must be a string of 1 to 1024 bytes"},
    {"non-empty string", "must be a non-empty string"},
    {"string", "must be a string"},
    {"boolean", "must be true or false"},
    {"integer", "must be an integer, written without fraction or exponent"},
    {"number", "must be a number"},
    {"ISO 639-1 code", "must be an ISO 639-1 language code in lower case such as \"en\""},
    {"ISO 3166-1 alpha-2 code",
     "must be an ISO 3166-1 alpha-2 country code in upper case such as \"US\""},
    {"ISO 4217 code", "must be an ISO 4217 currency code in upper case such as \"USD\""},
    {"`in stock` or `out of stock`", "must be \"in stock\" or \"out of stock\""},
    {"array of strings", "must be an array of strings"},
    {"object", "must be an object"},
    {"array of objects", "must be an array of objects"},
}};
static_assert(kTypeTexts.size() == static_cast<std::size_t>(kObjectList) + 1);

}  // namespace

const ProductTable& product_table() noexcept {
    return kProduct;
}

std::span<const ProductTable* const> product_tables() noexcept {
    return kTables;
}

std::string_view to_string(FieldType type) noexcept {
    return kTypeTexts[static_cast<std::size_t>(type)].name;
}

std::string_view expectation(FieldType type) noexcept {
    return kTypeTexts[static_cast<std::size_t>(type)].expectation;
}

}  // namespace sluice
