#include "core/protocol/product_fields.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

namespace sluice {
namespace {

TEST(ProductTableRules, EveryNameIsFoundByItsIndex) {
    for (const ProductTable* table : product_tables()) {
        for (std::size_t i = 0; i < table->fields.size(); ++i) {
            EXPECT_EQ(table->index.candidate(table->fields[i].name), i) << table->fields[i].name;
        }
        EXPECT_GE(table->index.candidate(""), 0U);
    }
}

TEST(ProductTableRules, NamesOfATableAreDistinctAndEveryFieldHasANote) {
    for (const ProductTable* table : product_tables()) {
        std::set<std::string_view> names;
        for (const ProductField& field : table->fields) {
            EXPECT_TRUE(names.insert(field.name).second) << field.name;
            EXPECT_FALSE(field.note.empty()) << field.name;
            EXPECT_FALSE(to_string(field.type).empty()) << field.name;
        }
    }
}

TEST(ProductTableRules, NestedTypesHaveATableWhichIsListed) {
    for (const ProductTable* table : product_tables()) {
        for (const ProductField& field : table->fields) {
            const bool nested =
                field.type == FieldType::kObject || field.type == FieldType::kObjectList;
            EXPECT_EQ(nested, field.table != nullptr) << field.name;
            const auto tables = product_tables();
            EXPECT_EQ(nested, std::count(tables.begin(), tables.end(), field.table) == 1);
        }
    }
}

TEST(ProductTableRules, LimitsEqualTheSpecification) {
    const auto limit_of = [](std::string_view table_name, std::string_view field_name) {
        for (const ProductTable* table : product_tables()) {
            for (const ProductField& field : table->fields) {
                if (table->name == table_name && field.name == field_name) {
                    return static_cast<int>(field.limit);
                }
            }
        }
        return -1;
    };
    EXPECT_EQ(limit_of("product", "variants"), 250);
    EXPECT_EQ(limit_of("product", "collections"), 250);
    EXPECT_EQ(limit_of("product", "tags"), 250);
    EXPECT_EQ(limit_of("variant", "selected_options"), 100);
    EXPECT_EQ(limit_of("prices", "discountedPrices"), 10);
    EXPECT_EQ(limit_of("prices", "discountedPriceRanges"), 10);
}

}  // namespace
}  // namespace sluice
