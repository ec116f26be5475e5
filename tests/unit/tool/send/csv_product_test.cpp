#include <gtest/gtest.h>

#include "program/cli/progress.hpp"
#include "tool/send/source.hpp"

namespace sluice::cli {
namespace {

using Words = std::vector<std::string>;

std::string json_of(const Words& names, const Words& fields) {
    const auto products = CsvRecords::of_products(names);
    if (!products.ok()) {
        return products.error().message;
    }
    const auto json = products->to_json(fields);
    return json.ok() ? json.value() : json.error().message;
}

TEST(CsvProduct, CellsBecomeFieldsOfTheirType) {
    EXPECT_EQ(json_of({"platform_product_id", "title", "active", "list_price", "position", "tags"},
                      {"p1", "Say \"hi\"", "true", "19.90", "0", "a;b c"}),
              R"({"platform_product_id":"p1","title":"Say \"hi\"","active":true,)"
              R"("list_price":19.90,"position":0,"tags":["a","b c"]})");
}

TEST(CsvProduct, AnEmptyCellIsAnAbsentField) {
    EXPECT_EQ(json_of({"platform_product_id", "title", "brand"}, {"p1", "", "b"}),
              R"({"platform_product_id":"p1","brand":"b"})");
}

TEST(CsvProduct, AnInvalidNumberIsLeftToTheValidator) {
    EXPECT_EQ(json_of({"platform_product_id", "list_price", "active"}, {"p1", "1,90", "yes"}),
              R"({"platform_product_id":"p1","list_price":"1,90","active":"yes"})");
}

TEST(CsvProduct, ListsAndObjectsMayBeJson) {
    EXPECT_EQ(json_of({"platform_product_id", "variants", "tags"},
                      {"p1", R"([{"variant_sku":"v"}])", R"(["x;y"])"}),
              R"({"platform_product_id":"p1","variants":[{"variant_sku":"v"}],"tags":["x;y"]})");
    EXPECT_EQ(json_of({"platform_product_id", "variants"}, {"p1", "v1"}),
              "variants: expected JSON");
    EXPECT_EQ(json_of({"platform_product_id", "tags"}, {"p1", "[broken"}), "tags: expected JSON");
}

TEST(CsvProduct, HeadersAreChecked) {
    EXPECT_EQ(json_of({"platform_product_id", "colour"}, {}),
              "no product record has a field 'colour'");
    EXPECT_EQ(json_of({"platform_product_id", "title", "title"}, {}),
              "the column title comes twice");
    EXPECT_EQ(json_of({"title"}, {}), "expected a header line with the column platform_product_id");
    EXPECT_EQ(json_of({"platform_product_id"}, {"p1", "x"}), "expected 1 fields, found 2");
}

TEST(CsvProduct, AProblemIsPlacedAtItsColumn) {
    const auto products = CsvRecords::of_products({"platform_product_id", "title", "prices"});
    ASSERT_TRUE(products.ok());
    EXPECT_EQ(products->placed("title: REQUIRED"), ", column 2: title: REQUIRED");
    EXPECT_EQ(products->placed("prices[0].amount: X"), ", column 3: prices[0].amount: X");
    EXPECT_EQ(products->placed("expected 3 fields, found 2"), ": expected 3 fields, found 2");
}

TEST(Progress, LineSaysHowFarAndHowLong) {
    EXPECT_EQ(progress_line({0.25, 1234, 5, 617, 66, ""}, true),
              "[######..................]  25%  1,234 sent  5 rejected  617/s  1:06 left");
    EXPECT_EQ(progress_line({0.25, 1234, 5, 4.96, {}, ""}, false),
              " 25%  1,234 sent  5 rejected  5.0/s");
    EXPECT_EQ(progress_line({1, 10, 0, {}, {}, "waits 3 s"}, true),
              "[########################] 100%  10 sent  0 rejected  (waits 3 s)");
}

}  // namespace
}  // namespace sluice::cli
