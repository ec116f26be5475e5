#include "tool/send/misspelling.hpp"

#include <gtest/gtest.h>

#include "core/json/document.hpp"

namespace sluice::cli {
namespace {

using Words = std::vector<std::string>;

Words misspelt(std::string_view record) {
    JsonDocument json;
    return json.parse(record) ? misspelt_fields(json.root()) : Words{"no JSON"};
}

std::string meant(std::string_view name) {
    return std::string(resembled_field(product_table(), name).value_or("-"));
}

TEST(Misspelling, SlipsOfTheHandResembleAField) {
    EXPECT_EQ(meant("titel"), "title");  // swapped
    EXPECT_EQ(meant("colections"), "collections");
    EXPECT_EQ(meant("variant"), "variants");
    EXPECT_EQ(meant("list_prise"), "list_price");
    EXPECT_EQ(meant("currency_cod"), "currency_code");
    EXPECT_EQ(meant("tag"), "tags");
}

TEST(Misspelling, OtherCaseAndSeparatorsAreTheSameName) {
    EXPECT_EQ(meant("listPrice"), "list_price");
    EXPECT_EQ(meant("Product-Url"), "product_url");
    EXPECT_EQ(meant("TITLE"), "title");
}

TEST(Misspelling, CustomFieldsResembleNone) {
    for (const char* own : {"colour", "weight", "warehouse", "x", "id", "sku", "", "tax",
                            "a_field_with_a_name_that_is_longer_than_any_of_ours_by_far"}) {
        EXPECT_EQ(meant(own), "-") << own;
    }
}

TEST(Misspelling, IsFoundAtEveryLevel) {
    EXPECT_EQ(misspelt(R"({"titel":"T","title":"T","colour":"red",
                           "variants":[{"variant_sku":"a"},{"varient_sku":"b","title":"x"}],
                           "prices":{"USD":1,"saleprice":2,"priceRange":{"mim":1}}})"),
              (Words{"titel: no such field is known; did you mean title?",
                     "variants[1].varient_sku: no such field is known; did you mean variant_sku?",
                     "prices.saleprice: no such field is known; did you mean salePrice?",
                     "prices.priceRange.mim: no such field is known; did you mean min?"}));
}

TEST(Misspelling, KnownFieldsAndNonRecordsAreNotMisspelt) {
    EXPECT_EQ(misspelt(R"({"platform_product_id":"p","title":"T","variants":7,"prices":[1]})"),
              Words{});
    EXPECT_EQ(misspelt("[1]"), Words{});
    EXPECT_EQ(misspelt("1"), Words{});
}

}  // namespace
}  // namespace sluice::cli
