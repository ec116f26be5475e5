// Lists in one column of text: the reader takes the text that the writer makes, and no other.
#include "pg_store/rows/list_text.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "core/ledger/failure.hpp"

namespace sluice::pg {
namespace {

/// The bytes of a field without its length, or no value for null.
Field field_of(const RowWriter& row) {
    const std::string_view bytes = row.view();
    return bytes.substr(0, 4) == "\xff\xff\xff\xff" ? Field{} : Field{bytes.substr(4)};
}

template <class Value>
std::string text_of(const std::vector<Value>& values) {
    ListText list;
    for (const Value& value : values) {
        list.add(value);
    }
    RowWriter row;
    list.write_to(row);
    const Field field = field_of(row);
    return field ? std::string(*field) : "null";
}

template <class Value>
std::vector<Value> values_of(const std::string& text) {
    std::vector<Value> values;
    for (const ListValue& value : list_values(text)) {
        value.read(values.emplace_back());
    }
    return values;
}

template <class Value>
void expect_both_ways(const std::vector<Value>& values, const std::string& text) {
    EXPECT_EQ(text_of(values), text);
    EXPECT_EQ(values_of<Value>(text), values);
}

TEST(ListText, HoldsEachValueAsText) {
    using Texts = std::vector<std::string>;
    expect_both_ways<std::string>({""}, "");
    expect_both_ways<std::string>({"", ""}, "\x1f");
    expect_both_ways<std::string>({"a", "b"},
                                  "a\x1f"
                                  "b");
    expect_both_ways<std::uint64_t>({0, 9'223'372'036'854'775'807U},
                                    "0\x1f"
                                    "9223372036854775807");
    expect_both_ways<std::int64_t>({-62'167'219'200, 7},
                                   "-62167219200\x1f"
                                   "7");
    expect_both_ways<std::uint32_t>({4'294'967'295U}, "4294967295");
    expect_both_ways<std::optional<std::uint8_t>>({std::nullopt, 3},
                                                  "\x1a\x1f"
                                                  "3");
    EXPECT_EQ(text_of(std::vector<bool>{true, false}),
              "t\x1f"
              "f");
    EXPECT_EQ(text_of(Texts{}), "null");
    EXPECT_TRUE(list_values({}).empty());
}

TEST(ListText, ATextMayHaveTheCharactersThatAreSpecial) {
    expect_both_ways<std::string>({"a\x1f"
                                   "b",
                                   "\x1a", "\x1b", "\x1bs", "\x1f\x1a\x1b"},
                                  "a\x1bsb\x1f\x1bn\x1f\x1b"
                                  "e\x1f\x1b"
                                  "es\x1f\x1bs\x1bn\x1b"
                                  "e");
    expect_both_ways<std::optional<std::string>>({"\x1a", std::nullopt}, "\x1bn\x1f\x1a");
}

TEST(ListText, AnAmountKeepsItsScale) {
    const std::vector<Decimal> amounts{{0, 0},      {0, 2},   {-1250, 2},           {5, 6},
                                       {199'50, 2}, {-1, 12}, {Int128{1} << 80U, 0}};
    const std::string text = text_of(amounts);
    EXPECT_EQ(text.substr(0, 13),
              "0\x1f"
              "0.00\x1f"
              "-12.50");
    const std::vector<Decimal> found = values_of<Decimal>(text);
    ASSERT_EQ(found.size(), amounts.size());
    for (std::size_t i = 0; i < amounts.size(); ++i) {
        EXPECT_EQ(found[i], amounts[i]);
        EXPECT_EQ(found[i].scale(), amounts[i].scale());
    }
}

template <class Value>
void expect_refused(const std::string& text) {
    EXPECT_THROW(values_of<Value>(text), DamagedField) << text;
}

TEST(ListText, EveryOtherTextIsDamage) {
    for (const char* text :
         {"", "x", "01", "+1", "-0", "1 ", "1.0", "9223372036854775808", "\x1a"}) {
        expect_refused<std::int64_t>(text);
    }
    for (const char* text : {"-1", "4294967296"}) {
        expect_refused<std::uint32_t>(text);
    }
    expect_refused<std::uint8_t>("256");
    for (const char* text : {"", ".", "1.", ".5", "01.5", "-0.00", "--1", "1.2.3", "1e5", "NaN",
                             "10000000000000000000000000", "0.0000000000001",
                             "12345678901234567890123456789012345678"}) {
        expect_refused<Decimal>(text);
    }
    for (const char* text : {"\x1b", "\x1bx", "a\x1a", "\x1a\x1a", "\x1b\x1f"}) {
        expect_refused<std::optional<std::string>>(text);
    }
    EXPECT_THROW(values_of<std::uint64_t>("t"), DamagedField);
    bool truth = false;
    EXPECT_THROW(list_values("true").front().read(truth), DamagedField);
    std::vector<Candidate> candidates;
    EXPECT_THROW(list_values("0G").front().read(candidates), DamagedField);
    EXPECT_THROW(list_values("FF").front().read(candidates), DamagedField);
    EXPECT_THROW(list_values("ff").front().read(candidates), DamagedField);
}

}  // namespace
}  // namespace sluice::pg
