#include "core/protocol/product_fields.hpp"

#include <array>
#include <cstddef>

namespace sluice {
namespace {

using enum FieldType;

constexpr bool kNullable = true, kNotNull = false;
constexpr const ProductTable* kNoTable = nullptr;
constexpr std::uint16_t kNoLimit = 0;

constexpr bool on_upsert(OnTopic topic) {
    return topic == OnTopic::kUpsert || topic == OnTopic::kBoth;
}
constexpr bool on_delete(OnTopic topic) {
    return topic == OnTopic::kDelete || topic == OnTopic::kBoth;
}

template <std::size_t N>
constexpr ProductTable make_table(std::string_view name, const ProductField (&fields)[N]) {
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

constexpr ProductField kRangeFields[]{
    {"min", kNumber, "Lowest price"},
    {"max", kNumber, "Highest price"},
};
constexpr ProductTable kRange = make_table("range", kRangeFields);

constexpr ProductField kDiscountFields[]{
    {"id", kText, "Identifier of the discount"},
};
constexpr ProductTable kDiscount = make_table("discount", kDiscountFields);

constexpr ProductField kDiscountedPriceFields[]{
    {"discount", kObject, "The discount", kNotNull, &kDiscount},
    {"price", kNumber, "Price with that discount"},
};
constexpr ProductTable kDiscountedPrice = make_table("discounted price", kDiscountedPriceFields);

constexpr ProductField kDiscountedPriceRangeFields[]{
    {"discount", kObject, "The discount", kNotNull, &kDiscount},
    {"range", kObject, "Prices with that discount", kNotNull, &kRange},
};
constexpr ProductTable kDiscountedPriceRange =
    make_table("discounted price range", kDiscountedPriceRangeFields);

constexpr ProductField kPricesFields[]{
    {"price", kNumber, "Regular price", kNullable},
    {"priceRange", kObject, "Regular prices of the variants", kNullable, &kRange},
    {"salePrice", kNumber, "Discounted price", kNullable},
    {"salePriceRange", kObject, "Discounted prices of the variants", kNullable, &kRange},
    {"promotionalPrice", kNumber, "Price while a sitewide promotion applies", kNullable},
    {"promotionalPriceRange", kObject, "Prices of the variants while a sitewide promotion applies",
     kNullable, &kRange},
    {"discountedPrices", kObjectList, "Price for each discount", kNotNull, &kDiscountedPrice, 10},
    {"discountedPriceRanges", kObjectList, "Prices of the variants for each discount", kNotNull,
     &kDiscountedPriceRange, 10},
};
constexpr ProductTable kPrices = make_table("prices", kPricesFields);

constexpr ProductField kVariantPriceFields[]{
    {"list_price", kNumber, "Regular price"},
    {"sale_price", kNumber, "Discounted price"},
    {"currency_code", kCurrency, "Currency of both"},
    {"allowed_region", kText, "Region where they apply"},
};
constexpr ProductTable kVariantPrice = make_table("variant price", kVariantPriceFields);

constexpr ProductField kSelectedOptionFields[]{
    {"name", kText, "Option name", kNullable},
    {"value", kText, "Option value", kNullable},
};
constexpr ProductTable kSelectedOption = make_table("selected option", kSelectedOptionFields);

constexpr ProductField kVariantFields[]{
    {"variant_sku", kId, "External key of the variant", kNotNull, kNoTable, kNoLimit,
     OnTopic::kUpsert},
    {"parent_id", kId, "Id of the parent product"},
    {"position", kInteger, "Display order of the variant"},
    {"title", kText, "Variant title"},
    {"product_url", kText, "Variant page URL", kNullable},
    {"image_src", kText, "Variant image URL"},
    {"price", kNumber, "Variant price", kNullable},
    {"list_price", kNumber, "Regular price"},
    {"sale_price", kNumber, "Discounted price", kNullable},
    {"currency_code", kCurrency, "Currency of the prices"},
    {"availability", kAvailability, "`in stock` or `out of stock`"},
    {"allowed_regions", kTextList, "Regions where the variant is sold"},
    {"option1_name", kText, "Name of the first option"},
    {"option2_name", kText, "Name of the second option"},
    {"option3_name", kText, "Name of the third option"},
    {"option1_value", kText, "Value of the first option"},
    {"option2_value", kText, "Value of the second option"},
    {"option3_value", kText, "Value of the third option"},
    {"option1_swatch_src", kText, "Swatch image URL of the first option"},
    {"option2_swatch_src", kText, "Swatch image URL of the second option"},
    {"option3_swatch_src", kText, "Swatch image URL of the third option"},
    {"prices", kObjectList, "One price for each region or currency", kNotNull, &kVariantPrice},
    {"selected_options", kObjectList, "Options that make up this variant", kNullable,
     &kSelectedOption, 100},
};
constexpr ProductTable kVariant = make_table("variant", kVariantFields);

constexpr ProductField kProductFields[]{
    {"platform_product_id", kId, "Product identifier from the ecommerce platform", kNotNull,
     kNoTable, kNoLimit, OnTopic::kBoth, OnTopic::kBoth},
    {"parent_id", kId,
     "Parent product id; the product's own id when a record is created without it", kNotNull,
     kNoTable, kNoLimit, OnTopic::kDelete, OnTopic::kBoth},
    {"position", kInteger, "Display order; 0 for parent products"},
    {"title", kNonEmptyText, "Title", kNotNull, kNoTable, kNoLimit, OnTopic::kBoth, OnTopic::kBoth},
    {"handle", kText, "Product handle or slug"},
    {"brand", kText, "Brand name", kNullable},
    {"active", kBoolean, "Whether the product is active"},
    {"in_stock", kBoolean, "Inventory availability flag", kNullable},
    {"product_url", kText, "Product detail page URL", kNullable},
    {"image_src", kText, "Primary image URL", kNullable},
    {"language", kLanguage, "Language of this localised copy", kNotNull, kNoTable, kNoLimit,
     OnTopic::kNone, OnTopic::kBoth},
    {"country", kCountry, "Country of this localised copy", kNotNull, kNoTable, kNoLimit,
     OnTopic::kNone, OnTopic::kBoth},
    {"list_price", kNumber, "Regular price"},
    {"sale_price", kNumber, "Currently discounted price"},
    {"currency_code", kCurrency, "Currency of both"},
    {"price_currency_code", kCurrency, "Currency of `prices`", kNullable},
    {"availability", kAvailability, "`in stock` or `out of stock`"},
    {"allowed_regions", kTextList, "Selling regions where the product is available"},
    {"prices", kObject, "Prices and price ranges", kNullable, &kPrices},
    {"promotional_code", kText, "Applied sitewide promotion code", kNullable},
    {"collections", kTextList, "Collection identifiers", kNullable, kNoTable, 250},
    {"tags", kTextList, "Product tags", kNullable, kNoTable, 250},
    {"variants", kObjectList, "Variants; a list that is sent replaces the stored one", kNullable,
     &kVariant, 250},
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
