// Product batches in the ledger: merge, copies, delete, values as sent.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/json/slices.hpp"
#include "unit/ledger/rules_fixture.hpp"

namespace sluice::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class CatalogRules : public EmptyBooksTest {
protected:
    Applied upsert(std::string_view product) {
        return books.products(Topic::kProductUpsert, "[" + std::string(product) + "]");
    }
    Applied erase(std::string_view product) {
        return books.products(Topic::kProductDelete, "[" + std::string(product) + "]");
    }
    /// Merged records, by key.
    std::vector<std::string> records() {
        std::vector<std::string> texts;
        books.read()->scan_catalog({1}, {1}, [&texts](const CatalogRecord& record) {
            texts.push_back(record.json);
            return true;
        });
        return texts;
    }
};
SLUICE_FOR_EVERY_LEDGER(CatalogRules);

TEST_P(CatalogRules, AbsentKeepsNullClearsPresentReplaces) {
    upsert(
        R"({"platform_product_id":"p","title":"One","brand":"B","tags":["a","b"],"list_price":10.50})");
    upsert(R"({"platform_product_id":"p","title":"Two","brand":null,"tags":["c"]})");
    EXPECT_THAT(records(), ElementsAre(R"({"platform_product_id":"p","title":"Two","brand":null,)"
                                       R"("tags":["c"],"list_price":10.50,"parent_id":"p"})"));
}

TEST_P(CatalogRules, NumbersKeepTheTextThatWasSent) {
    upsert(
        R"({"platform_product_id":"p","title":"t","list_price":0.1000000000000000055511151231257827,)"
        R"("sale_price":1E-7,"extra":12345678901234567890})");
    EXPECT_THAT(records(), ElementsAre(R"({"platform_product_id":"p","title":"t","list_price":)"
                                       R"(0.1000000000000000055511151231257827,"sale_price":1E-7,)"
                                       R"("extra":12345678901234567890,"parent_id":"p"})"));
}

TEST_P(CatalogRules, ParentIdIsTheOwnIdWhenCreatedAndKeptLater) {
    upsert(R"({"platform_product_id":"a\"b","title":"t"})");
    EXPECT_THAT(records(),
                ElementsAre(R"({"platform_product_id":"a\"b","title":"t","parent_id":"a\"b"})"));
    upsert(R"({"platform_product_id":"a\"b","title":"t","parent_id":"mother"})");
    upsert(R"({"platform_product_id":"a\"b","title":"u"})");
    EXPECT_THAT(records(),
                ElementsAre(R"({"platform_product_id":"a\"b","title":"u","parent_id":"mother"})"));
}

TEST_P(CatalogRules, VariantsAreReplacedAsAList) {
    upsert(
        R"({"platform_product_id":"p","title":"t","variants":[{"variant_sku":"a","price":1},{"variant_sku":"b"}]})");
    upsert(R"({"platform_product_id":"p","title":"t","variants":[{"variant_sku":"a"}]})");
    EXPECT_THAT(records(), ElementsAre(R"({"platform_product_id":"p","title":"t",)"
                                       R"("variants":[{"variant_sku":"a"}],"parent_id":"p"})"));
    const auto reader = books.read();
    EXPECT_TRUE(reader->find_variant({1}, {1}, "a").has_value());
    EXPECT_FALSE(reader->find_variant({1}, {1}, "b").has_value());
}

TEST_P(CatalogRules, NullVariantsClearTheLookups) {
    upsert(R"({"platform_product_id":"p","title":"t","variants":[{"variant_sku":"a"}]})");
    upsert(R"({"platform_product_id":"p","title":"t","variants":null})");
    EXPECT_FALSE(books.read()->find_variant({1}, {1}, "a").has_value());
}

TEST_P(CatalogRules, CopiesAreRecordsOfTheirOwn) {
    upsert(R"({"platform_product_id":"p","title":"t"})");
    upsert(R"({"platform_product_id":"p","title":"T","language":"de"})");
    upsert(R"({"platform_product_id":"p","title":"D","language":"de","country":"AT"})");
    upsert(R"({"platform_product_id":"p","title":"A","country":"AT"})");
    EXPECT_EQ(records().size(), 4U);
    upsert(
        R"({"platform_product_id":"p","brand":"B","title":"D2","language":"de","country":"AT"})");
    EXPECT_EQ(records().size(), 4U);
}

TEST_P(CatalogRules, DeleteWithoutLanguageAndCountryTakesAllCopies) {
    upsert(R"({"platform_product_id":"p","title":"t"})");
    upsert(R"({"platform_product_id":"p","title":"T","language":"de"})");
    upsert(R"({"platform_product_id":"q","title":"t"})");
    erase(R"({"platform_product_id":"p","parent_id":"p","title":"t"})");
    EXPECT_THAT(records(),
                ElementsAre(R"({"platform_product_id":"q","title":"t","parent_id":"q"})"));
}

TEST_P(CatalogRules, DeleteWithThemTakesExactlyThatCopy) {
    upsert(R"({"platform_product_id":"p","title":"t"})");
    upsert(R"({"platform_product_id":"p","title":"T","language":"de"})");
    upsert(R"({"platform_product_id":"p","title":"D","language":"de","country":"AT"})");
    erase(R"({"platform_product_id":"p","parent_id":"p","title":"t","language":"de"})");
    EXPECT_EQ(records().size(), 2U);
    erase(R"({"platform_product_id":"p","parent_id":"p","title":"t","country":"AT"})");
    EXPECT_EQ(records().size(), 2U);
    erase(
        R"({"platform_product_id":"p","parent_id":"p","title":"t","language":"de","country":"AT"})");
    EXPECT_EQ(records().size(), 1U);
}

TEST_P(CatalogRules, ADeletedRecordIsCreatedEmpty) {
    upsert(R"({"platform_product_id":"p","title":"t","brand":"B","parent_id":"m"})");
    erase(R"({"platform_product_id":"p","parent_id":"p","title":"t"})");
    upsert(R"({"platform_product_id":"p","title":"t"})");
    EXPECT_THAT(records(),
                ElementsAre(R"({"platform_product_id":"p","title":"t","parent_id":"p"})"));
}

TEST_P(CatalogRules, RecordsOfOneBatchApplyInOrder) {
    const Applied applied = books.products(
        Topic::kProductUpsert,
        R"([{"platform_product_id":"p","title":"1","brand":"B"},{"platform_product_id":"p","title":"2"}])");
    EXPECT_EQ(applied.input_class, InputClass::kCatalog);
    EXPECT_THAT(records(), ElementsAre(R"({"platform_product_id":"p","title":"2","brand":"B",)"
                                       R"("parent_id":"p"})"));
    EXPECT_EQ(books.totals().catalog, 1U);
}

TEST_P(CatalogRules, ShopsHaveCatalogsOfTheirOwn) {
    books.from_shop("shop-2");
    upsert(R"({"platform_product_id":"p","title":"t"})");
    EXPECT_THAT(records(), IsEmpty());
}

TEST_P(CatalogRules, ABatchThatBreaksTheRulesIsDeadAndChangesNothing) {
    const Applied applied = books.products(
        Topic::kProductUpsert,
        R"([{"platform_product_id":"p","title":"t"},{"platform_product_id":"q","title":""}])");
    EXPECT_EQ(applied.input_class, InputClass::kDead);
    EXPECT_THAT(applied.text, testing::HasSubstr("title"));
    EXPECT_THAT(records(), IsEmpty());
}

TEST(JsonSlices, KeepTextAndUnescapeKeys) {
    const auto members = json_members(
        "\t{ \"\\u0061\\n\" : [1, {\"x\":\"]}\"}] ,\n\"b\":\"\\ud83d\\ude00\\\"\", \"c\" : "
        "-1.50e+3 } ");
    ASSERT_EQ(members.size(), 3U);
    EXPECT_EQ(members[0].key, "a\n");
    EXPECT_EQ(members[0].value, R"([1, {"x":"]}"}])");
    EXPECT_EQ(json_string(members[1].value), "\xF0\x9F\x98\x80\"");
    EXPECT_EQ(members[2].value, "-1.50e+3");
    EXPECT_THAT(json_elements(members[0].value), ElementsAre("1", R"({"x":"]}"})"));
    EXPECT_THAT(json_elements("[ ]"), IsEmpty());
    EXPECT_THAT(json_members("{}"), IsEmpty());
    EXPECT_THAT(json_elements("[[],{},\"\\\\\",null , true]"),
                ElementsAre("[]", "{}", R"("\\")", "null", "true"));
    EXPECT_THAT(json_members("[1]"), IsEmpty());
    EXPECT_EQ(json_string(R"("\b\f\r\t\/\u00e9\u20ac")"), "\b\f\r\t/\xC3\xA9\xE2\x82\xAC");
}

}  // namespace
}  // namespace sluice::test
