// Texts that people type: their ends, and whether they are UTF-8.
#include "core/values/unicode.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(Unicode, SpacesAtTheEndsAreTrimmed) {
    for (const std::string_view space :
         {" ", "\t", "\r", "\n", "\xC2\x85", "\xC2\xA0", "\xE1\x9A\x80", "\xE2\x80\x83",
          "\xE2\x80\x8B", "\xE2\x80\xA8", "\xE2\x80\xAF", "\xE2\x81\x9F", "\xE3\x80\x80",
          "\xEF\xBB\xBF", "\xE2\x80\x8E"}) {
        const std::string around = std::string(space) + "A B" + std::string(space) + " ";
        EXPECT_EQ(trim_text(around), "A B") << around;
        EXPECT_EQ(trim_text(space), "");
    }
    EXPECT_EQ(trim_text(""), "");
    EXPECT_EQ(trim_text("\xC3\x89T\xC3\x89"), "\xC3\x89T\xC3\x89");
    EXPECT_EQ(trim_text("a\xC2\xA0z"), "a\xC2\xA0z");
}

TEST(Unicode, BytesThatAreNotUtf8StayAtTheEnds) {
    EXPECT_EQ(trim_text(" \xA0x\xA0 "), "\xA0x\xA0");
}

TEST(Unicode, CaseIsFoldedInThreeAlphabets) {
    EXPECT_EQ(fold_case("Save10 \xC3\x89T\xC3\x89"), "save10 \xC3\xA9t\xC3\xA9");
    EXPECT_EQ(fold_case("\xC5\xA0koda \xC4\xB0 \xC5\xBD"), "\xC5\xA1koda \xC4\xB1 \xC5\xBE");
    EXPECT_EQ(fold_case("\xCE\xA3 \xD0\x90 \xD0\x81 \xEF\xBC\xA1"),
              "\xCF\x83 \xD0\xB0 \xD1\x91 \xEF\xBD\x81");
    EXPECT_EQ(fold_case("\xC3\x97\xEB"), "\xC3\x97\xEB");
}

TEST(Unicode, Utf8IsRecognised) {
    EXPECT_TRUE(is_utf8(""));
    EXPECT_TRUE(is_utf8("Zo\xC3\xAB \xF0\x9F\x98\x80"));
    EXPECT_FALSE(is_utf8("Zo\xEB"));
    EXPECT_FALSE(is_utf8("\xC0\x80"));
    EXPECT_FALSE(is_utf8("\xED\xA0\x80"));
}

TEST(Unicode, ATextInAnotherEncodingIsGuessed) {
    EXPECT_EQ(likely_encoding("Zo\xEB"), "WINDOWS-1252");
    EXPECT_EQ(likely_encoding("\xFF\xFEZ\0"), "UTF-16");
    EXPECT_EQ(likely_encoding("\x81"), "");
}

}  // namespace
}  // namespace sluice
