// The JSON limits that both endpoints share, seen through the order event.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/core/protocol/order_fixture.hpp"

namespace sluice {
namespace {

using test::edited;
using test::errors_of;
using test::kOrder;
using testing::ElementsAre;
using testing::IsEmpty;

/// The order with a further, unknown field of this value.
std::string with_unknown(std::string_view value) {
    return edited("\"unknown\"", "\"other\": " + std::string(value) + ", \"unknown\"");
}

const std::vector<std::string> kBodyError{" INVALID_FORMAT"};

TEST(JsonRules, BrokenJsonIsOneErrorAboutTheBody) {
    for (const std::string_view body : {"",
                                        " ",
                                        "{",
                                        "}",
                                        "[",
                                        "nul",
                                        "{\"a\":1,}",
                                        "{\"a\":1}{\"a\":2}",
                                        "{\"a\":1} x",
                                        "{'a':1}",
                                        "{\"a\":01}",
                                        "{\"a\":1.}",
                                        "{\"a\":.5}",
                                        "{\"a\":+1}",
                                        "{\"a\":NaN}",
                                        "{\"a\":Infinity}",
                                        "{\"a\" 1}",
                                        "{\"a\":1 \"b\":2}",
                                        "{\"a\":\"\t\"}",
                                        "{\"a\":\"\\x\"}",
                                        "{\"a\":\"\\u12\"}",
                                        "// c\n{}",
                                        "{\"a\":tru}",
                                        "{\"a\":[1,]}",
                                        "{\"a\":}",
                                        "{,}"}) {
        EXPECT_EQ(errors_of(body), kBodyError) << body;
    }
    EXPECT_EQ(errors_of(std::string_view("{}\0", 3)), kBodyError);
    EXPECT_EQ(errors_of(std::string_view("{\"a\0\":1}", 8)), kBodyError);
}

TEST(JsonRules, TheRootIsAnObject) {
    for (const std::string_view body : {"[]", "\"x\"", "1", "null", "true", "[{}]"}) {
        EXPECT_EQ(errors_of(body), kBodyError) << body;
    }
}

TEST(JsonRules, UnknownFieldsAreStrictJsonToo) {
    for (const std::string_view value :
         {"tru", "1.2.3", "01", "[1,]", "\"\\q\"", "\"\n\"", "", "-"}) {
        EXPECT_EQ(errors_of(with_unknown(value)), kBodyError) << value;
    }
}

TEST(JsonRules, Utf8WithoutBom) {
    EXPECT_EQ(errors_of("\xef\xbb\xbf" + std::string(kOrder)), kBodyError);
    for (const std::string_view bad :
         {"\xff", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\x80", "\xc3"}) {
        EXPECT_EQ(errors_of(with_unknown('"' + std::string(bad) + '"')), kBodyError);
    }
    EXPECT_THAT(errors_of(with_unknown("\"\xf0\x9f\x9b\x92 \xc3\xa9\"")), IsEmpty());
}

TEST(JsonRules, NoLoneSurrogates) {
    for (const std::string_view bad : {R"("\ud800")", R"("\udc00")", R"("\ud800\ud800")",
                                       R"("\udc00\ud800")", R"("\ud800x")", R"("\ud83d\\ude00")"}) {
        EXPECT_EQ(errors_of(with_unknown(bad)), kBodyError) << bad;
    }
    EXPECT_THAT(errors_of(with_unknown(R"("\ud83d\ude00")")), IsEmpty());
    EXPECT_EQ(errors_of(edited("\"unknown\"", R"("\ud800")")), kBodyError) << "in a key";
}

TEST(JsonRules, SixtyFourLevelsAreAcceptedSixtyFiveAreNot) {
    // The root is level 1, the unknown field's containers follow.
    const auto nested = [](std::size_t levels, const std::string& innermost) {
        std::string value;
        for (std::size_t i = 0; i < levels; ++i) {
            value += i % 2 == 0 ? "[" : "{\"a\":";
        }
        value += innermost;
        for (std::size_t i = levels; i-- > 0;) {
            value += i % 2 == 0 ? "]" : "}";
        }
        return with_unknown(value);
    };
    EXPECT_THAT(errors_of(nested(63, "1")), IsEmpty());
    EXPECT_EQ(errors_of(nested(64, "1")), kBodyError);
    EXPECT_THAT(errors_of(nested(62, "[]")), IsEmpty()) << "an empty container at level 64";
    EXPECT_THAT(errors_of(nested(62, "{}")), IsEmpty());
    EXPECT_EQ(errors_of(nested(63, "[]")), kBodyError) << "an empty container at level 65";
    EXPECT_EQ(errors_of(nested(63, "{}")), kBodyError);
    EXPECT_EQ(errors_of(nested(63, "[1]")), kBodyError);
    EXPECT_THAT(errors_of(nested(63, "\"[[[[ \\\" {{{{\"")), IsEmpty()) << "brackets in a string";
    EXPECT_EQ(errors_of(nested(500'000, "1")), kBodyError);
    EXPECT_EQ(errors_of(std::string(2'000'000, '[')), kBodyError);
}

TEST(JsonRules, IntegersBeyond64BitsAndHugeNumbersAreInvalid) {
    for (const std::string_view good : {"18446744073709551615", "-9223372036854775808", "1e308",
                                        "1e-400", "-0", "123456789012345678901234567890.5"}) {
        EXPECT_THAT(errors_of(with_unknown(good)), IsEmpty()) << good;
    }
    for (const std::string_view bad : {"18446744073709551616", "-9223372036854775809", "1e400",
                                       "-1e400", "100000000000000000000000"}) {
        EXPECT_EQ(errors_of(with_unknown(bad)), kBodyError) << bad;
        EXPECT_EQ(errors_of(with_unknown("[" + std::string(bad) + "]")), kBodyError) << bad;
    }
}

TEST(JsonRules, NulIsRefusedInANamedFieldByItsName) {
    EXPECT_THAT(errors_of(edited("a@example.com", "a\\u0000b")),
                ElementsAre("email INVALID_FORMAT"));
    EXPECT_THAT(errors_of(edited("\"l-2\"", "\"\\u0000\"")),
                ElementsAre("line_items[1].line_item_id INVALID_FORMAT"));
    EXPECT_THAT(errors_of(edited("anon-1", "\\u0000")), ElementsAre("svc_anon_id INVALID_FORMAT"));
}

TEST(JsonRules, NulIsRefusedEverywhereElseToo) {
    EXPECT_EQ(errors_of(with_unknown(R"("\u0000")")), kBodyError);
    EXPECT_EQ(errors_of(with_unknown(R"({"a\u0000b": 1})")), kBodyError);
    EXPECT_EQ(errors_of(with_unknown(R"([["\\\u0000"]])")), kBodyError);
    EXPECT_EQ(errors_of(edited("\"unknown\"", R"("amount\u0000")")), kBodyError);
    EXPECT_THAT(errors_of(edited("c-1", "\\u0000", with_unknown(R"("\u0000")"))),
                ElementsAre("platform_customer_id INVALID_FORMAT"))
        << "said once nothing else is wrong";
}

TEST(JsonRules, TextThatOnlyResemblesNulIsAccepted) {
    for (const std::string_view good : {R"("\\u0000")", R"("u0000")", R"("\\\\u0000")",
                                        R"("\n\\u0000")", R"("\u0001 \/u0000")"}) {
        EXPECT_THAT(errors_of(with_unknown(good)), IsEmpty()) << good;
    }
    EXPECT_EQ(errors_of(with_unknown(R"("\u00001")")), kBodyError);
    EXPECT_EQ(errors_of(with_unknown(R"("\\\u0000")")), kBodyError);
}

TEST(JsonRules, ABodyAtTheVeryEndOfReadableMemoryIsFine) {
    // Exactly sized heap blocks of many lengths: ASan sees any byte read beyond them.
    for (std::size_t pad = 0; pad < 130; ++pad) {
        const std::string body = with_unknown('"' + std::string(pad, 'x') + '"');
        std::vector<char> exact(body.begin(), body.end());
        EXPECT_THAT(errors_of({exact.data(), exact.size()}), IsEmpty());
    }
}

TEST(JsonRules, HostileBodiesTakeLinearTime) {
    // Each of these is quadratic for a careless reader: minutes instead of milliseconds.
    std::string same_key = "\"amount\":\"1\"";
    std::string other_keys = "\"k0\":1";
    std::string same_ids = "{\"line_item_id\":\"x\"}";
    std::string backslashes = "\"";
    for (int i = 0; i < 300'000; ++i) {
        same_key += ",\"amount\":\"1\"";
        other_keys += ",\"k" + std::to_string(i) + "\":1";
        same_ids += ",{\"line_item_id\":\"x\"}";
        backslashes += "\\\\\\\\u0000";
    }
    EXPECT_EQ(errors_of('{' + same_key + '}')[3], "amount INVALID_FORMAT");
    EXPECT_EQ(errors_of(with_unknown('{' + other_keys + '}')).size(), 0U);
    EXPECT_EQ(errors_of("{\"line_items\":[" + same_ids + "]}").size(), 100U);
    EXPECT_EQ(errors_of(with_unknown(backslashes + '"')).size(), 0U);
}

}  // namespace
}  // namespace sluice
