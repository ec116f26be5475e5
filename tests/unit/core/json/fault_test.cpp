#include "core/json/fault.hpp"

#include <gtest/gtest.h>

#include "core/json/document.hpp"

namespace sluice {
namespace {

using namespace std::string_view_literals;

/// Returns the message that the sender receives.
std::string told(std::string_view body) {
    JsonDocument json;
    EXPECT_FALSE(json.parse(body));
    return explain_json_error(json.error(), body);
}

TEST(JsonFault, IsNamedWithLineColumnAndTheBytesAround) {
    EXPECT_EQ(told("{\n  \"amount\": 10,00,\n  \"tax\": \"1\"\n}"),
              "the body is not valid JSON, line 2, column 16: expected a key in double quotes, but "
              "after \\x0a  \"amount\": 10, comes 00,\\x0a  \"tax\": \"1\"");
    EXPECT_EQ(told(R"({"a":1,})"),
              "the body is not valid JSON, line 1, column 8: expected a key in double quotes, but "
              "after {\"a\":1, comes }");
    EXPECT_EQ(
        told(R"({"a":[1,2})"),
        "the body is not valid JSON, line 1, column 10: expected , or ], but after {\"a\":[1,2 "
        "comes }");
    EXPECT_EQ(told("{'a':1}"),
              "the body is not valid JSON, line 1, column 2: expected a key in double quotes, but "
              "after { comes 'a':1}");
    EXPECT_EQ(
        told("None"),
        "the body is not valid JSON, line 1, column 1: expected a value, but there comes None");
    EXPECT_EQ(
        told("[1] x"),
        "the body is not valid JSON, line 1, column 5: expected nothing behind the value, but "
        "after [1]  comes x");
}

TEST(JsonFault, ColumnsCountCharactersAndNotBytes) {
    EXPECT_NE(
        told("{\"name\":\"\xc3\xa9\xe2\x82\xac\" 1}").find("line 1, column 14: expected , or }"),
        std::string::npos);
}

TEST(JsonFault, NamesTheFaultOfAStringOrNumber) {
    const auto expects = [](std::string_view body, std::string_view wanted) {
        EXPECT_NE(told(body).find("expected " + std::string(wanted)), std::string::npos)
            << told(body);
    };
    expects(R"(["a\x"])", "an escape that JSON knows");
    expects(R"(["\ud800x"])", "both halves of a surrogate pair");
    expects(R"(["\ud800\u0041"])", "both halves of a surrogate pair");
    expects(R"(["\udc00"])", "both halves of a surrogate pair");
    expects("[\"a\nb\"]", "no control character in a string");
    expects(R"(["a)", "the string's closing quote");
    expects("[01]", "no digit behind a leading 0");
    expects("[1.]", "a digit");
    expects("[1e]", "a digit");
    expects("[-]", "a digit");
    expects("[18446744073709551616]", "a number within 64 bits, or as a string");
    expects("[-9223372036854775809]", "a number within 64 bits, or as a string");
    expects("[1e400]", "a number within 64 bits, or as a string");
    expects(std::string(65, '[') + std::string(65, ']'), "at most 64 levels");
}

TEST(JsonFault, AnotherEncodingIsNamed) {
    EXPECT_EQ(
        told("\xef\xbb\xbf{}"),
        "the body is not valid JSON: it begins with a byte order mark: send UTF-8 without it");
    EXPECT_NE(told("{\0\"\0}\0"sv).find("it is UTF-16"), std::string::npos);
    EXPECT_NE(told("\0{\0}"sv).find("it is UTF-16"), std::string::npos);
    EXPECT_NE(told("\xff\xfe{\0}\0"sv).find("it is UTF-16"), std::string::npos);
    EXPECT_NE(told("\x1f\x8b\x08").find("compressed with gzip"), std::string::npos);
    EXPECT_NE(told("payload=%7B%22a%22%7D").find("it is a form"), std::string::npos);
    EXPECT_NE(told("%7B%22a%22%7D").find("URL-encoded"), std::string::npos);
    EXPECT_NE(told("eyJhIjoxfQ==").find("base64"), std::string::npos);
    EXPECT_EQ(told("[\"M\xfcller\"]"),
              "the body is not valid UTF-8, line 1, column 4: expected UTF-8, but after [\"M comes "
              "\\xfcller\"] (is it Latin-1 or Windows-1252?)");
}

TEST(JsonFault, AValidBodyHasNone) {
    for (const std::string_view body :
         {"null", " [ ] ", R"({"a":{"b":[1,-0.5e+3,"\u00e9\ud83d\ude00\/"],"c":{}},"d":true})"}) {
        EXPECT_EQ(find_json_fault(body), std::nullopt) << body;
    }
    EXPECT_EQ(find_json_fault(std::string(64, '[') + std::string(64, ']')), std::nullopt);
    EXPECT_EQ(told(""), "the body is empty");
}

}  // namespace
}  // namespace sluice
