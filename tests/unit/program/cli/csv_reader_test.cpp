#include "program/cli/csv_reader.hpp"

#include <gtest/gtest.h>

#include <string>

#include "program/system/file.hpp"

namespace sluice::cli {
namespace {

using Rows = std::vector<std::vector<std::string>>;

UniqueFile file_of(const std::string& text) {
    UniqueFile file(std::tmpfile());
    std::fwrite(text.data(), 1, text.size(), file.get());
    std::rewind(file.get());
    return file;
}

struct Outcome {
    Rows rows;
    std::vector<std::uint64_t> lines;
    std::string error;
};

Outcome read(const std::string& text) {
    const UniqueFile file = file_of(text);
    CsvReader reader(file.get(), "f.csv");
    Outcome outcome;
    CsvRow row;
    while (true) {
        const auto got = reader.next(row);
        if (!got.ok()) {
            outcome.error = got.error().message;
            return outcome;
        }
        if (!got.value()) {
            return outcome;
        }
        outcome.rows.push_back(row.fields);
        outcome.lines.push_back(row.line);
    }
}

TEST(Csv, PlainRowsWithEveryLineEnd) {
    EXPECT_EQ(read("a,b\nc,\r\n,d").rows, (Rows{{"a", "b"}, {"c", ""}, {"", "d"}}));
    EXPECT_EQ(read("").rows, Rows{});
    EXPECT_EQ(read("\n\r\na\n\n").rows, (Rows{{"a"}}));
}

TEST(Csv, QuotesHoldCommasQuotesAndLineBreaks) {
    const Outcome outcome = read("\"a,\"\"b\"\"\nc\",d\r\ne,\"\"\n");
    EXPECT_EQ(outcome.rows, (Rows{{"a,\"b\"\nc", "d"}, {"e", ""}}));
    EXPECT_EQ(outcome.lines, (std::vector<std::uint64_t>{1, 3}));
}

TEST(Csv, ByteOrderMarkIsSkipped) {
    EXPECT_EQ(read("\xEF\xBB\xBF"
                   "a,b\n")
                  .rows,
              (Rows{{"a", "b"}}));
}

TEST(Csv, ErrorsNameTheLine) {
    EXPECT_EQ(read("a\n\"b\nc").error, "f.csv:2: the quote that begins here is never closed");
    EXPECT_EQ(read("a\nb\"c\n").error,
              "f.csv:2: a quote inside a field that does not begin with one");
    EXPECT_EQ(read("\"a\"b\n").error,
              "f.csv:1: expected a comma or the end of the line after a closing quote");
}

TEST(CsvTable, ColumnsMayComeInAnyOrder) {
    const UniqueFile file = file_of("code,creator_id\nSAVE,c1\n");
    auto table = CsvTable::open(file.get(), "f.csv", {{"creator_id", "code"}});
    ASSERT_TRUE(table.ok());
    CsvRow row;
    ASSERT_TRUE(table->next(row).value());
    EXPECT_EQ(row.fields, (std::vector<std::string>{"c1", "SAVE"}));
    EXPECT_EQ(row.line, 2u);
    EXPECT_FALSE(table->next(row).value());
}

TEST(CsvTable, RefusesAnotherHeaderAndShortRows) {
    for (const char* wrong :
         {"", "creator_id\n", "creator_id,code,more\n", "c1,SAVE\n", "code,code\n"}) {
        const UniqueFile file = file_of(wrong);
        const auto table = CsvTable::open(file.get(), "f.csv", {{"creator_id", "code"}});
        ASSERT_FALSE(table.ok()) << wrong;
        EXPECT_TRUE(table.error().message.starts_with(
            "f.csv:1: expected a header line with the columns creator_id,code"))
            << table.error().message;
    }
    const UniqueFile file = file_of("creator_id,code\nc1\n");
    auto table = CsvTable::open(file.get(), "f.csv", {{"creator_id", "code"}});
    ASSERT_TRUE(table.ok());
    CsvRow row;
    EXPECT_EQ(table->next(row).error().message, "f.csv:2: expected 2 fields, found 1");
}

TEST(CsvTable, OptionalColumnsThatAreNotThereAreEmpty) {
    const UniqueFile file = file_of("name,creator_id\nAnn,c1\n");
    auto table = CsvTable::open(file.get(), "f.csv", {{"creator_id"}, {"code", "name"}});
    ASSERT_TRUE(table.ok());
    CsvRow row;
    ASSERT_TRUE(table->next(row).value());
    EXPECT_EQ(row.fields, (std::vector<std::string>{"c1", "", "Ann"}));
}

TEST(CsvTable, AnUnknownColumnIsNamed) {
    const UniqueFile file = file_of("creator_id,coed\nc1,SAVE\n");
    const auto table = CsvTable::open(file.get(), "f.csv", {{"creator_id"}, {"code", "name"}});
    ASSERT_FALSE(table.ok());
    EXPECT_EQ(table.error().message,
              "f.csv:1: expected a header line with the columns creator_id, and any of code,name; "
              "found 'coed'");
}

}  // namespace
}  // namespace sluice::cli
