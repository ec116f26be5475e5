// Token numbers: the digits of a token's id, as records and logs have them.
#include "core/values/token_number.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(TokenNumberRules, AnIdAndItsNumberLeadToEachOther) {
    for (const std::uint64_t number : {std::uint64_t{1}, std::uint64_t{0x0123456789abcdef},
                                       std::uint64_t{0x00f0000000000000}, ~std::uint64_t{0}}) {
        EXPECT_EQ(token_number(token_id_of(number)), number);
    }
    EXPECT_EQ(token_id_of(0x0123456789abcdef), "tok_0123456789abcdef");
    EXPECT_EQ(token_id_of(10), "tok_000000000000000a");
}

TEST(TokenNumberRules, AnyOtherTextHasNone) {
    for (const char* text : {"", "tok_", "tok_0123456789abcde", "tok_0123456789abcdef0",
                             "tok_0123456789abcdeg", "key_0123456789abcdef", "tok_-123456789abcdef",
                             "tok_ 123456789abcdef", "tok_0000000000000000"}) {
        EXPECT_EQ(token_number(text), 0U) << text;
    }
}

}  // namespace
}  // namespace sluice
