#include "core/values/parsed.hpp"

#include <gtest/gtest.h>

#include <string>

#include "core/values/assert.hpp"
#include "core/values/decimal.hpp"
#include "core/values/result.hpp"

namespace sluice {
namespace {

TEST(Parsed, HasTheValueOfAText) {
    const Parsed<Decimal> parsed = Decimal::parse("1.50");
    ASSERT_TRUE(parsed);
    EXPECT_EQ(parsed->to_string(), "1.50");
    EXPECT_EQ(parsed.value_or(Decimal()), *parsed);
}

TEST(Parsed, TheValueThatATextDoesNotHaveIsNeverRead) {
    Parsed<Decimal> none = Decimal::parse("-1.50");
    EXPECT_FALSE(none);
    EXPECT_THROW(static_cast<void>(*none), UncheckedParse);
    EXPECT_THROW(static_cast<void>(none->is_zero()), UncheckedParse);
    EXPECT_THROW(static_cast<void>(none.value()), UncheckedParse);
    EXPECT_THROW(static_cast<void>(*Decimal::parse("")), UncheckedParse);
    EXPECT_EQ(none.value_or(Decimal(2, 0)), Decimal(2, 0));
}

TEST(AssertionScope, AFailureIsThrownWithinItAndAbortsOutside) {
    const Result<int> failed = Error{ErrorCode::kInvalid, "x"};
    {
        const AssertionScope outer;
        {
            const AssertionScope inner;
            EXPECT_THROW(static_cast<void>(failed.value()), AssertionFailed);
        }
        EXPECT_THROW(static_cast<void>(failed.value()), AssertionFailed);
    }
    EXPECT_DEATH(static_cast<void>(failed.value()), "assertion failed");
}

}  // namespace
}  // namespace sluice
