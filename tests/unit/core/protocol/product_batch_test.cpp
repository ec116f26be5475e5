#include "core/protocol/product_batch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

namespace sluice {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;

std::string batch(const std::string& records) {
    return "{\"products\":[" + records + "]}";
}

/// A record with the required fields and `more` (`"name": value, ...`).
std::string product(const std::string& more = "") {
    return R"({"platform_product_id":"p","parent_id":"p","title":"T")" +
           (more.empty() ? "" : "," + more) + "}";
}

std::string variant(const std::string& more = "") {
    return R"({"variant_sku":"v")" + (more.empty() ? "" : "," + more) + "}";
}

std::string repeated(const std::string& element, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) {
        all += (i == 0 ? "" : ",") + element;
    }
    return all;
}

struct Checked {
    BatchVerdict verdict;
    std::vector<std::string> errors;  // `field CODE`
};

Checked check(std::string_view body, Topic topic = Topic::kProductUpsert) {
    static ProductBatchParser parser;
    Checked checked{parser.validate(body, topic), {}};
    for (const FieldError& error : parser.errors()) {
        EXPECT_FALSE(error.message.empty());
        EXPECT_EQ(error.field.find("products[" + std::to_string(error.index) + "]"), 0U);
        checked.errors.push_back(error.field + ' ' + std::string(to_string(error.code)));
    }
    EXPECT_EQ(checked.verdict == BatchVerdict::kNotABatch, !parser.batch_error().empty());
    if (checked.verdict != BatchVerdict::kNotABatch) {
        EXPECT_EQ(checked.verdict == BatchVerdict::kValid, checked.errors.empty());
    }
    return checked;
}

std::vector<std::string> errors(const std::string& records, Topic topic = Topic::kProductUpsert) {
    const Checked checked = check(batch(records), topic);
    EXPECT_NE(checked.verdict, BatchVerdict::kNotABatch) << records;
    return checked.errors;
}

std::vector<std::string> invalid_product(const std::string& field) {
    return {field + " INVALID_FORMAT"};
}

// --- The batch ---

TEST(BatchRules, OneTo1000Products) {
    EXPECT_EQ(check(batch("")).verdict, BatchVerdict::kNotABatch);
    EXPECT_EQ(check(batch(product())).verdict, BatchVerdict::kValid);
    EXPECT_EQ(check(batch(repeated(product(), 1000))).verdict, BatchVerdict::kValid);
    EXPECT_EQ(check(batch(repeated(product(), 1001))).verdict, BatchVerdict::kNotABatch);
}

TEST(BatchRules, TheProductsOfAValidBatchAreCounted) {
    ProductBatchParser parser;
    ASSERT_EQ(parser.validate(batch(repeated(product(), 7)), Topic::kProductUpsert),
              BatchVerdict::kValid);
    EXPECT_EQ(parser.products_count(), 7U);
}

TEST(BatchRules, TheBodyIsAnObjectWithAnArrayOfProducts) {
    for (const std::string_view body :
         {"", "[]", "{}", "null", "\"products\"", "{\"products\":null}", "{\"products\":{}}",
          "{\"products\":\"x\"}", "{\"Products\":[{}]}", "{\"products\":[{}]", "not json",
          "{\"products\":[{}],\"products\":[{}]}", "{\"products\":[{}],\"\\u0070roducts\":1}"}) {
        EXPECT_EQ(check(body).verdict, BatchVerdict::kNotABatch) << body;
    }
    EXPECT_EQ(check("{\"x\":1,\"products\":[" + product() + "],\"y\":{}}").verdict,
              BatchVerdict::kValid);
}

TEST(BatchRules, AnElementThatIsNoObjectIsOneErrorAtItsIndex) {
    EXPECT_THAT(errors(product() + ",null,7,[]," + product()),
                ElementsAre("products[1] INVALID_FORMAT", "products[2] INVALID_FORMAT",
                            "products[3] INVALID_FORMAT"));
}

TEST(BatchRules, TheFirst1000ErrorsAreListedInOrder) {
    const std::vector<std::string> found = errors(repeated("{}", 1000));
    ASSERT_EQ(found.size(), ProductBatchParser::kErrorsMax);
    EXPECT_EQ(found[0], "products[0].platform_product_id REQUIRED");
    EXPECT_EQ(found[1], "products[0].title REQUIRED");
    EXPECT_EQ(found[999], "products[499].title REQUIRED");
}

TEST(BatchRules, JsonLimitsEqualTheEventLimits) {
    const auto with = [](const std::string& value) {
        return check(batch(product("\"unknown\":" + value))).verdict;
    };
    EXPECT_EQ(with("18446744073709551615"), BatchVerdict::kValid);
    EXPECT_EQ(with("18446744073709551616"), BatchVerdict::kNotABatch);
    EXPECT_EQ(with("1e400"), BatchVerdict::kNotABatch);
    EXPECT_EQ(with("\"\xff\""), BatchVerdict::kNotABatch);
    EXPECT_EQ(with("\"\\ud800\""), BatchVerdict::kNotABatch);
    EXPECT_EQ(with("\"\\u0000\""), BatchVerdict::kNotABatch);
    // Root, products and the record are levels 1 to 3.
    EXPECT_EQ(with(std::string(61, '[') + std::string(61, ']')), BatchVerdict::kValid);
    EXPECT_EQ(with(std::string(62, '[') + std::string(62, ']')), BatchVerdict::kNotABatch);
}

TEST(BatchRules, NulInANamedFieldIsThatFieldsError) {
    EXPECT_EQ(errors(product(R"("brand":"a\u0000")")), invalid_product("products[0].brand"));
    EXPECT_EQ(errors(product(R"("tags":["a","\u0000"])")), invalid_product("products[0].tags[1]"));
    EXPECT_EQ(check(batch(product(R"("brand":"a\u0000")")), Topic::kProductDelete).verdict,
              BatchVerdict::kNotABatch)
        << "a deletion does not look at brand";
}

// --- The record ---

TEST(ProductRules, UpsertRequiresIdAndTitle) {
    EXPECT_THAT(errors("{}"), ElementsAre("products[0].platform_product_id REQUIRED",
                                          "products[0].title REQUIRED"));
    EXPECT_THAT(
        errors(R"({"platform_product_id":null,"title":null})"),
        ElementsAre("products[0].platform_product_id REQUIRED", "products[0].title REQUIRED"));
    EXPECT_THAT(errors(R"({"platform_product_id":"p","title":"T"})"), IsEmpty());
}

TEST(ProductRules, DeleteRequiresIdParentAndTitle) {
    EXPECT_THAT(errors("{}", Topic::kProductDelete),
                ElementsAre("products[0].platform_product_id REQUIRED",
                            "products[0].parent_id REQUIRED", "products[0].title REQUIRED"));
    EXPECT_THAT(
        errors(R"({"platform_product_id":"","parent_id":null,"title":7})", Topic::kProductDelete),
        ElementsAre("products[0].platform_product_id INVALID_FORMAT",
                    "products[0].parent_id REQUIRED", "products[0].title INVALID_FORMAT"));
}

TEST(ProductRules, DeleteChecksLanguageAndCountryAndNothingElse) {
    EXPECT_THAT(errors(product(R"("brand":7,"variants":{"x":[]},"list_price":"no","position":1.5,
                                  "brand":8,"currency_code":"none")"),
                       Topic::kProductDelete),
                IsEmpty());
    EXPECT_THAT(
        errors(product(R"("language":"EN","country":"us")"), Topic::kProductDelete),
        ElementsAre("products[0].language INVALID_FORMAT", "products[0].country INVALID_FORMAT"));
    EXPECT_EQ(errors(product(R"("language":null)"), Topic::kProductDelete),
              invalid_product("products[0].language"));
    EXPECT_EQ(errors(product(R"("title":"U")"), Topic::kProductDelete),
              invalid_product("products[0].title"))
        << "twice";
}

TEST(ProductRules, IdsAre1To1024Bytes) {
    const auto with_id = [](const std::string& id) {
        return errors(R"({"platform_product_id":")" + id + R"(","title":"T"})");
    };
    EXPECT_EQ(with_id(""), invalid_product("products[0].platform_product_id"));
    EXPECT_THAT(with_id(std::string(1024, 'x')), IsEmpty());
    EXPECT_EQ(with_id(std::string(1025, 'x')), invalid_product("products[0].platform_product_id"));
    EXPECT_EQ(errors(R"({"platform_product_id":7,"title":"T"})"),
              invalid_product("products[0].platform_product_id"));
    EXPECT_EQ(errors(R"({"platform_product_id":"p","title":"T","parent_id":""})"),
              invalid_product("products[0].parent_id"));
    EXPECT_EQ(errors(R"({"platform_product_id":"p","title":"T","parent_id":null})"),
              invalid_product("products[0].parent_id"));
}

TEST(ProductRules, TitleIsANonEmptyString) {
    EXPECT_EQ(errors(R"({"platform_product_id":"p","title":""})"),
              invalid_product("products[0].title"));
    EXPECT_THAT(errors(R"({"platform_product_id":"p","title":" "})"), IsEmpty());
    EXPECT_THAT(
        errors(R"({"platform_product_id":"p","title":")" + std::string(100'000, 't') + "\"}"),
        IsEmpty());
}

TEST(ProductRules, NullIsAllowedWhereTheFieldIsNullableOnly) {
    for (const std::string name :
         {"brand", "in_stock", "product_url", "image_src", "price_currency_code", "prices",
          "promotional_code", "collections", "tags", "variants"}) {
        EXPECT_THAT(errors(product('"' + name + "\":null")), IsEmpty()) << name;
    }
    for (const std::string name :
         {"position", "handle", "active", "language", "country", "list_price", "sale_price",
          "currency_code", "availability", "allowed_regions"}) {
        EXPECT_EQ(errors(product('"' + name + "\":null")), invalid_product("products[0]." + name));
    }
}

TEST(VariantRules, NullIsAllowedWhereTheFieldIsNullableOnly) {
    for (const std::string name : {"product_url", "price", "sale_price", "selected_options"}) {
        EXPECT_THAT(errors(product("\"variants\":[" + variant('"' + name + "\":null") + "]")),
                    IsEmpty())
            << name;
    }
    for (const std::string name :
         {"parent_id", "position", "title", "image_src", "list_price", "currency_code",
          "availability", "allowed_regions", "option1_name", "option2_name", "option3_name",
          "option1_value", "option2_value", "option3_value", "option1_swatch_src",
          "option2_swatch_src", "option3_swatch_src", "prices"}) {
        EXPECT_EQ(errors(product("\"variants\":[" + variant('"' + name + "\":null") + "]")),
                  invalid_product("products[0].variants[0]." + name));
    }
}

TEST(ProductRules, TypesAreChecked) {
    const auto expect = [](const std::string& names, const std::vector<std::string>& good,
                           const std::vector<std::string>& bad) {
        std::string name;
        for (const char c : names + ' ') {
            if (c != ' ') {
                name += c;
                continue;
            }
            for (const std::string& value : good) {
                EXPECT_THAT(errors(product('"' + name + "\":" + value)), IsEmpty()) << value;
            }
            for (const std::string& value : bad) {
                EXPECT_EQ(errors(product('"' + name + "\":" + value)),
                          invalid_product("products[0]." + name))
                    << value;
            }
            name.clear();
        }
    };
    expect("handle brand product_url image_src promotional_code", {"\"\"", "\"x\""},
           {"1", "true", "[]", "{}", "1.5"});
    expect("active in_stock", {"true", "false"}, {"1", "0", "\"true\"", "[]"});
    expect("position", {"0", "-1", "7", "18446744073709551615", "-9223372036854775808", "-0"},
           {"1.0", "1e2", "1E2", "0.5", "\"1\"", "true", "-0.0"});
    expect("list_price sale_price", {"0", "-1", "1.5", "1e2", "18446744073709551615"},
           {"\"1.5\"", "true", "[]", "{}"});
    expect("language", {"\"en\"", "\"de\""},
           {"\"EN\"", "\"eng\"", "\"xx\"", "\"\"", "1", "\"en-US\""});
    expect("country", {"\"US\"", "\"DE\""}, {"\"us\"", "\"USA\"", "\"ZZ\"", "\"\"", "1"});
    expect("currency_code price_currency_code", {"\"USD\"", "\"JPY\"", "\"XCG\"", "\"HRK\""},
           {"\"usd\"", "\"US\"", "\"\"", "840"});
    expect("availability", {"\"in stock\"", "\"out of stock\""},
           {"\"In Stock\"", "\"in_stock\"", "\"\"", "\"preorder\"", "true"});
    expect("allowed_regions collections tags", {"[]", "[\"a\"]", "[\"\",\"b\"]"},
           {"\"a\"", "{}", "1", "true"});
    expect("variants", {"[]"}, {"{}", "\"x\"", "1"});
    expect("prices", {"{}"}, {"[]", "\"x\"", "1"});
}

TEST(ProductRules, ElementsOfStringListsAreStrings) {
    EXPECT_THAT(
        errors(product(R"("tags":["a",1,null,"b",[]],"allowed_regions":[{}])")),
        ElementsAre("products[0].allowed_regions[0] INVALID_FORMAT",
                    "products[0].tags[1] INVALID_FORMAT", "products[0].tags[2] INVALID_FORMAT",
                    "products[0].tags[4] INVALID_FORMAT"));
}

TEST(ProductRules, ListsOverTheirLimitAreInvalidAtTheListsPath) {
    for (const std::string name : {"collections", "tags"}) {
        EXPECT_THAT(errors(product('"' + name + "\":[" + repeated("\"x\"", 250) + "]")), IsEmpty());
        EXPECT_EQ(errors(product('"' + name + "\":[" + repeated("\"x\"", 251) + "]")),
                  invalid_product("products[0]." + name));
    }
    EXPECT_THAT(errors(product("\"variants\":[" + repeated(variant(), 250) + "]")), IsEmpty());
    EXPECT_EQ(errors(product("\"variants\":[" + repeated(variant(), 251) + "]")),
              invalid_product("products[0].variants"));
    const std::vector<std::string> both =
        errors(product("\"tags\":[" + repeated("\"x\"", 250) + ",7]"));
    EXPECT_THAT(both, ElementsAre("products[0].tags INVALID_FORMAT",
                                  "products[0].tags[250] INVALID_FORMAT"));
    EXPECT_THAT(errors(product("\"allowed_regions\":[" + repeated("\"x\"", 5000) + "]")), IsEmpty())
        << "has no limit";
}

TEST(ProductRules, ANamedFieldTwiceIsInvalid) {
    EXPECT_EQ(errors(product(R"("brand":"a","brand":"a")")), invalid_product("products[0].brand"));
    EXPECT_EQ(errors(product(R"("brand":null,"\u0062rand":null)")),
              invalid_product("products[0].brand"));
    EXPECT_EQ(errors(product(R"("title":"T")")), invalid_product("products[0].title"));
    EXPECT_EQ(errors(product(R"("variants":[{"variant_sku":"a","variant_sku":"b"}])")),
              invalid_product("products[0].variants[0].variant_sku"));
    EXPECT_EQ(errors(product(R"("prices":{"priceRange":{"min":1,"min":2}})")),
              invalid_product("products[0].prices.priceRange.min"));
    EXPECT_THAT(errors(product(R"("unknown":1,"unknown":2)")), IsEmpty());
}

TEST(ProductRules, UnknownFieldsAreAccepted) {
    EXPECT_THAT(errors(product(R"("":1,"Title":2,"titl":3,"metafields":{"a":[1,{"title":""}]})")),
                IsEmpty());
}

// --- What a record holds ---

TEST(VariantRules, VariantSkuIsRequired) {
    EXPECT_THAT(errors(product("\"variants\":[" + variant() + R"(,{},{"variant_sku":null},
                               {"variant_sku":""},{"variant_sku":1},7,null])")),
                ElementsAre("products[0].variants[1].variant_sku REQUIRED",
                            "products[0].variants[2].variant_sku REQUIRED",
                            "products[0].variants[3].variant_sku INVALID_FORMAT",
                            "products[0].variants[4].variant_sku INVALID_FORMAT",
                            "products[0].variants[5] INVALID_FORMAT",
                            "products[0].variants[6] INVALID_FORMAT"));
}

TEST(VariantRules, PricesAndOptionsAreChecked) {
    EXPECT_THAT(errors(product("\"variants\":[" +
                               variant(R"("position":1.0,"availability":"yes","price":"1",
                                  "prices":[{},{"list_price":null,"sale_price":"1",
                                  "currency_code":"usd","allowed_region":1},7],
                                  "selected_options":[{"name":null,"value":null},{},{"name":1}])") +
                               "]")),
                ElementsAre("products[0].variants[0].position INVALID_FORMAT",
                            "products[0].variants[0].price INVALID_FORMAT",
                            "products[0].variants[0].availability INVALID_FORMAT",
                            "products[0].variants[0].prices[1].list_price INVALID_FORMAT",
                            "products[0].variants[0].prices[1].sale_price INVALID_FORMAT",
                            "products[0].variants[0].prices[1].currency_code INVALID_FORMAT",
                            "products[0].variants[0].prices[1].allowed_region INVALID_FORMAT",
                            "products[0].variants[0].prices[2] INVALID_FORMAT",
                            "products[0].variants[0].selected_options[2].name INVALID_FORMAT"));
}

TEST(VariantRules, AtMost100SelectedOptions) {
    const auto options = [](int count) {
        return errors(product("\"variants\":[" +
                              variant("\"selected_options\":[" + repeated("{}", count) + "]") +
                              "]"));
    };
    EXPECT_THAT(options(100), IsEmpty());
    EXPECT_EQ(options(101), invalid_product("products[0].variants[0].selected_options"));
}

TEST(PricesRules, AllMembersAreOptionalAndSomeNullable) {
    EXPECT_THAT(errors(product(R"("prices":{"price":null,"priceRange":null,"salePrice":null,
        "salePriceRange":null,"promotionalPrice":null,"promotionalPriceRange":null})")),
                IsEmpty());
    EXPECT_THAT(errors(product(R"("prices":{"price":1,"priceRange":{},"salePrice":1.5,
        "salePriceRange":{"min":1},"promotionalPrice":0,"promotionalPriceRange":{"max":2},
        "discountedPrices":[{"discount":{"id":""},"price":1},{},{"discount":{}}],
        "discountedPriceRanges":[{"discount":{"id":"x"},"range":{"min":1,"max":2}},{}]})")),
                IsEmpty());
    EXPECT_THAT(
        errors(product(R"("prices":{"discountedPrices":null,"discountedPriceRanges":null})")),
        ElementsAre("products[0].prices.discountedPrices INVALID_FORMAT",
                    "products[0].prices.discountedPriceRanges INVALID_FORMAT"));
}

TEST(PricesRules, TypesAreChecked) {
    EXPECT_THAT(
        errors(product(
            R"("prices":{"price":"1","priceRange":[],"salePriceRange":{"min":null,"max":"2"},
        "discountedPrices":[{"discount":null,"price":null},{"discount":"x"},1],
        "discountedPriceRanges":[{"discount":{"id":1},"range":null},{"range":[]}]})")),
        ElementsAre("products[0].prices.price INVALID_FORMAT",
                    "products[0].prices.priceRange INVALID_FORMAT",
                    "products[0].prices.salePriceRange.min INVALID_FORMAT",
                    "products[0].prices.salePriceRange.max INVALID_FORMAT",
                    "products[0].prices.discountedPrices[0].discount INVALID_FORMAT",
                    "products[0].prices.discountedPrices[0].price INVALID_FORMAT",
                    "products[0].prices.discountedPrices[1].discount INVALID_FORMAT",
                    "products[0].prices.discountedPrices[2] INVALID_FORMAT",
                    "products[0].prices.discountedPriceRanges[0].discount.id INVALID_FORMAT",
                    "products[0].prices.discountedPriceRanges[0].range INVALID_FORMAT",
                    "products[0].prices.discountedPriceRanges[1].range INVALID_FORMAT"));
}

TEST(PricesRules, AtMost10DiscountsEach) {
    for (const std::string name : {"discountedPrices", "discountedPriceRanges"}) {
        const auto with = [&name](int count) {
            return errors(product("\"prices\":{\"" + name + "\":[" + repeated("{}", count) + "]}"));
        };
        EXPECT_THAT(with(10), IsEmpty());
        EXPECT_EQ(with(11), invalid_product("products[0].prices." + name));
    }
}

TEST(BatchRules, HostileBatchesTakeLinearTimeAndBoundedErrors) {
    std::string keys = "\"brand\":1";
    for (int i = 0; i < 300'000; ++i) {
        keys += ",\"brand\":1,\"k" + std::to_string(i) + "\":1";
    }
    EXPECT_EQ(errors(product(keys)), invalid_product("products[0].brand"));
    EXPECT_EQ(errors(product("\"allowed_regions\":[" + repeated("1", 1'000'000) + "]")).size(),
              ProductBatchParser::kErrorsMax);
}

}  // namespace
}  // namespace sluice
