#include "program/cli/output.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>

namespace sluice::cli {
namespace {

std::string captured(const std::function<void(std::FILE*)>& write) {
    char* text = nullptr;
    std::size_t size = 0;
    std::FILE* const out = ::open_memstream(&text, &size);
    write(out);
    std::fclose(out);
    const std::string result(text, size);
    std::free(text);
    return result;
}

std::string listing(Format format, const std::vector<Row>& rows) {
    return captured([&](std::FILE* out) {
        Listing list(format, {{"id"}, {"count", Align::kRight}, {"words"}}, out);
        for (const Row& row : rows) {
            list.add(row);
        }
        list.finish();
    });
}

Row row(const std::string& id, int count, Json words) {
    return {id, count, std::move(words)};
}

TEST(Output, TableIsAlignedAndShowsNothingAsDash) {
    EXPECT_EQ(listing(Format::kTable,
                      {row("a", 5, nullptr), row("long-id", 1234, Json::array({"x", "y"}))}),
              "id       count  words\n"
              "a            5  -\n"
              "long-id   1234  x;y\n");
}

TEST(Output, TableAlignsUtf8ByCharacters) {
    EXPECT_EQ(listing(Format::kTable, {row("é", 1, "z"), row("ab", 2, "z")}),
              "id  count  words\n"
              "é       1  z\n"
              "ab      2  z\n");
}

TEST(Output, TableNeverSendsControlsToTheTerminal) {
    EXPECT_EQ(printable("a\x1b[31m\n\x7f"), "a\\x1b[31m\\x0a\\x7f");
    EXPECT_EQ(printable("\xC2\x9B"
                        "31m"),
              "\\u009b31m");
    EXPECT_EQ(printable("\x9B"
                        "31m"),
              "\\x9b31m");
    EXPECT_EQ(printable("caf\xC3\xA9"), "caf\xC3\xA9");
    EXPECT_EQ(printable("a\u202Eb\u2028c\u200Bd\u2066e\uFEFF"),
              "a\\u202eb\\u2028c\\u200bd\\u2066e\\ufeff");
    EXPECT_EQ(printable("\U000E0041 \U0001F600"), "\\udb40\\udc41 \U0001F600");
}

TEST(Output, TableOfManyRowsKeepsWritingAfterItsWidthsAreFixed) {
    std::vector<Row> rows(2500, row("a", 1, nullptr));
    rows.back()[0] = "wider than before";
    const std::string text = listing(Format::kTable, rows);
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2501);
    EXPECT_NE(text.find("wider than before"), std::string::npos);
}

TEST(Output, JsonIsAnArrayWithMembersInOrder) {
    const std::string text =
        listing(Format::kJson, {row("a\"b", 1, nullptr), row("c", 2, Json::array({"x"}))});
    EXPECT_EQ(text,
              "[\n"
              "  {\n"
              "    \"id\": \"a\\\"b\",\n"
              "    \"count\": 1,\n"
              "    \"words\": null\n"
              "  },\n"
              "  {\n"
              "    \"id\": \"c\",\n"
              "    \"count\": 2,\n"
              "    \"words\": [\n"
              "      \"x\"\n"
              "    ]\n"
              "  }\n"
              "]\n");
    EXPECT_EQ(listing(Format::kJson, {}), "[]\n");
}

TEST(Output, CsvHasAHeaderAndQuotesWhereNeeded) {
    EXPECT_EQ(listing(Format::kCsv,
                      {row("a,b", 1, nullptr), row("say \"x\"\n", 2, Json::array({"x", "y"}))}),
              "id,count,words\n"
              "\"a,b\",1,\n"
              "\"say \"\"x\"\"\n\",2,x;y\n");
    EXPECT_EQ(listing(Format::kCsv, {}), "id,count,words\n");
}

TEST(Output, ObjectInEveryFormat) {
    const Json object = {{"token_id", "t1"}, {"secret", "s"}};
    const auto written = [&](Format format) {
        return captured([&](std::FILE* out) { write_object(format, object, out); });
    };
    EXPECT_EQ(written(Format::kTable), "token_id  t1\nsecret    s\n");
    EXPECT_EQ(written(Format::kCsv), "token_id,secret\nt1,s\n");
    EXPECT_EQ(written(Format::kJson), "{\n  \"token_id\": \"t1\",\n  \"secret\": \"s\"\n}\n");
}

TEST(Output, BytesThatAreNotUtf8AreReplacedInJson) {
    EXPECT_EQ(json_quoted("a\xFF\xC3\xA9\xE2\x82"),
              "\"a\xEF\xBF\xBD\xC3\xA9\xEF\xBF\xBD\xEF\xBF\xBD\"");
    EXPECT_EQ(json_quoted("\x01\n\"\\/<"), R"("\u0001\n\"\\/<")");
    EXPECT_EQ(json_quoted("\x7F\u009B\u202E\u2028\u200B"), R"("\u007f\u009b\u202e\u2028\u200b")");
    EXPECT_EQ(json_quoted("\x7F\u202E", JsonEscapes::kNeeded), "\"\x7F\u202E\"");
    EXPECT_EQ(json_quoted("\xC3\xA9 \xF0\x9F\x98\x80", JsonEscapes::kNonAscii),
              R"("\u00e9 \ud83d\ude00")");
}

}  // namespace
}  // namespace sluice::cli
