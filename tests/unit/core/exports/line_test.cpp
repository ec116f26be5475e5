// Lines of an export: every type of value in both formats.
#include "core/exports/line.hpp"

#include <gtest/gtest.h>

#include "core/exports/tables.hpp"

namespace sluice::exports {
namespace {

using lists::Scope;
using lists::Value;

const std::vector<Column> kColumns{{"text", ColumnType::kText, Scope::kLedger},
                                   {"texts", ColumnType::kTexts, Scope::kLedger},
                                   {"integer", ColumnType::kInteger, Scope::kLedger},
                                   {"amount", ColumnType::kAmount, Scope::kLedger},
                                   {"flag", ColumnType::kFlag, Scope::kLedger},
                                   {"time", ColumnType::kTime, Scope::kLedger},
                                   {"json", ColumnType::kJson, Scope::kLedger}};

std::string line_of(ExportFormat format, const std::string& text) {
    ExportLine line(format, kColumns);
    line.add(text);
    line.add(std::vector<std::string>{"a", "b"});
    line.add(12U);
    line.add(Decimal(-1250, 2));
    line.add(true);
    line.add(Timestamp{0, 250'000'000});
    line.add_json("{\"x\":\n [1.50]}");
    return std::string(line.end());
}

TEST(ExportLine, WritesEveryTypeAsJson) {
    EXPECT_EQ(line_of(ExportFormat::kNdjson, "a\"\n"),
              "{\"text\":\"a\\\"\\n\",\"texts\":[\"a\",\"b\"],\"integer\":12,\"amount\":\"-12.50\","
              "\"flag\":true,\"time\":\"1970-01-01T00:00:00.25Z\",\"json\":{\"x\":[1.50]}}\n");
}

TEST(ExportLine, WritesEveryTypeAsCsv) {
    EXPECT_EQ(ExportLine(ExportFormat::kCsv, kColumns).header(),
              "text,texts,integer,amount,flag,time,json\n");
    EXPECT_EQ(line_of(ExportFormat::kCsv, "a\"\n"),
              "\"a\"\"\n\",a;b,12,-12.50,true,1970-01-01T00:00:00.25Z,\"{\"\"x\"\":[1.50]}\"\n");
}

TEST(ExportLine, CsvOfPricesAndFormulasIsRaw) {
    EXPECT_EQ(line_of(ExportFormat::kCsv, "=1+1").substr(0, 5), "=1+1,");
}

TEST(ExportLine, ReplacesBytesThatAreNotUtf8) {
    EXPECT_EQ(line_of(ExportFormat::kCsv, "a\xFFz").substr(0, 6), "a\xEF\xBF\xBDz,");
    EXPECT_EQ(line_of(ExportFormat::kNdjson, "a\xFFz").substr(0, 15),
              "{\"text\":\"a\xEF\xBF\xBDz\"");
}

TEST(ExportLine, NullIsNullOrAnEmptyField) {
    for (const ExportFormat format : {ExportFormat::kNdjson, ExportFormat::kCsv}) {
        ExportLine line(format, kColumns);
        for (const Value& value : {Value(), Value(std::vector<std::string>()), Value(), Value(),
                                   Value(), Value(std::optional<Timestamp>())}) {
            line.add(value);
        }
        line.add_json("null");
        EXPECT_EQ(line.end(), format == ExportFormat::kCsv
                                  ? ",,,,,,\n"
                                  : "{\"text\":null,\"texts\":[],\"integer\":null,\"amount\":null,"
                                    "\"flag\":null,\"time\":null,\"json\":null}\n");
    }
}

TEST(ExportLine, AValueFitsTheTypeOfItsColumn) {
    EXPECT_TRUE(fits(ColumnType::kAmount, Value(Decimal())));
    EXPECT_TRUE(fits(ColumnType::kAmount, Value("1.50")));  // as a shop sent it
    EXPECT_TRUE(fits(ColumnType::kTime, Value()));
    EXPECT_FALSE(fits(ColumnType::kInteger, Value(Decimal())));
    EXPECT_FALSE(fits(ColumnType::kTime, Value("2026-01-01T00:00:00Z")));
    EXPECT_FALSE(fits(ColumnType::kText, Value(true)));
}

TEST(ExportTables, HaveUniqueColumns) {
    for (const ExportTable& table : export_tables()) {
        for (std::size_t i = 0; i < table.columns.size(); ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                EXPECT_NE(table.columns[i].name, table.columns[j].name) << table.name;
            }
        }
    }
}

}  // namespace
}  // namespace sluice::exports
