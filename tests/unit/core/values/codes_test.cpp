#include <gtest/gtest.h>

#include <string>

#include "core/protocol/field_error.hpp"
#include "core/protocol/topic.hpp"
#include "core/values/ids.hpp"
#include "core/values/money.hpp"

namespace sluice {
namespace {

int minor_units(std::string_view code) {
    const auto currency = Currency::parse(code);
    return currency ? currency->minor_units() : -1;
}

TEST(CurrencyRules, MinorUnitsAreIso4217s) {
    for (const char* code : {"BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF",
                             "UGX", "UYI", "VND", "VUV", "XAF", "XOF", "XPF"}) {
        EXPECT_EQ(minor_units(code), 0) << code;
    }
    for (const char* code :
         {"USD", "CAD", "GBP", "AUD", "EUR", "CHF", "HUF", "MGA", "AFN", "IDR"}) {
        EXPECT_EQ(minor_units(code), 2) << code;
    }
    for (const char* code : {"BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"}) {
        EXPECT_EQ(minor_units(code), 3) << code;
    }
    EXPECT_EQ(minor_units("CLF"), 4);
    EXPECT_EQ(minor_units("UYW"), 4);
}

TEST(CurrencyRules, CodesWithoutAMinorUnitUse2) {
    EXPECT_EQ(minor_units("XAU"), 2);
    EXPECT_EQ(minor_units("XDR"), 2);
}

TEST(CurrencyRules, NewAndRetiredCodesAreKnown) {
    for (const char* code : {"XCG", "ZWG", "XAD", "HRK", "BGN", "LTL", "EEK", "SLL", "ANG"}) {
        EXPECT_EQ(minor_units(code), 2) << code;
    }
    EXPECT_EQ(minor_units("BYR"), 0);
}

TEST(CurrencyRules, CodesAreExactInCaseAndLength) {
    for (const std::string_view code :
         {"usd", "Usd", "US", "USDD", "", "ZZZ", "U$D", "USD ", "\xff\xff\xff", "A1B"}) {
        EXPECT_EQ(minor_units(code), -1) << code;
    }
    EXPECT_EQ(Currency::parse("EUR")->code(), "EUR");
}

TEST(CodeRules, LanguagesAreIso639Part1InLowerCase) {
    for (const char* code : {"en", "de", "fr", "zh", "ja", "aa", "zu"}) {
        EXPECT_TRUE(is_iso639_1(code)) << code;
    }
    for (const std::string_view code :
         {"", "e", "EN", "En", "eng", "xx", "zz", "e1", "{a", "`a", "en-US", "\xe9\xe9"}) {
        EXPECT_FALSE(is_iso639_1(code)) << code;
    }
}

TEST(CodeRules, CountriesAreIso3166Alpha2InUpperCase) {
    for (const char* code : {"US", "DE", "GB", "AD", "ZW", "XK"}) {
        EXPECT_EQ(is_iso3166_alpha2(code), std::string_view(code) != "XK") << code;
    }
    for (const std::string_view code : {"", "U", "us", "Us", "USA", "UK", "EU", "ZZ", "[A", "@A"}) {
        EXPECT_FALSE(is_iso3166_alpha2(code)) << code;
    }
}

TEST(AdminIdRules, OneTo128OfTheAllowedBytes) {
    EXPECT_TRUE(is_admin_id("aZ09._-:@+/="));
    EXPECT_TRUE(is_admin_id(std::string(128, 'x')));
    EXPECT_FALSE(is_admin_id(""));
    EXPECT_FALSE(is_admin_id(std::string(129, 'x')));
    EXPECT_FALSE(is_admin_id("a b"));
    EXPECT_FALSE(is_admin_id("caf\xc3\xa9"));
    EXPECT_FALSE(is_admin_id(std::string_view("a\0b", 3)));
    for (int byte = 0; byte < 256; ++byte) {
        const char c = static_cast<char>(byte);
        const bool allowed =
            std::isalnum(byte) != 0 ||
            (byte != 0 && std::string_view("._-:@+/=").find(c) != std::string_view::npos);
        EXPECT_EQ(is_admin_id(std::string_view(&c, 1)), allowed) << byte;
    }
}

TEST(TopicRules, NamesAreExact) {
    for (const char* name :
         {"ORDER_CREATE", "ORDER_UPDATE", "ORDER_CANCEL", "PRODUCT_UPSERT", "PRODUCT_DELETE"}) {
        ASSERT_TRUE(parse_name<Topic>(name)) << name;
        EXPECT_EQ(to_string(*parse_name<Topic>(name)), name);
    }
    EXPECT_FALSE(parse_name<Topic>("order_create"));
    EXPECT_FALSE(parse_name<Topic>("ORDER_CREATE "));
    EXPECT_FALSE(parse_name<Topic>(""));
}

TEST(FieldErrorRules, CodesAreSpelledAsTheProtocolSays) {
    EXPECT_EQ(to_string(FieldErrorCode::kRequired), "REQUIRED");
    EXPECT_EQ(to_string(FieldErrorCode::kInvalidFormat), "INVALID_FORMAT");
}

}  // namespace
}  // namespace sluice
