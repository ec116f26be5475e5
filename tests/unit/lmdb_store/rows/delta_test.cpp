// A delta of any two values makes the second one of the first.
#include <gtest/gtest.h>

#include "lmdb_store/rows/row_delta.hpp"
#include "unit/lmdb_store/rows/samples.hpp"

namespace sluice::store {
namespace {

class DeltaTest : public testing::Test {
protected:
    /// Returns the sealed fields.
    std::string delta_of(std::string_view base, std::string_view next) {
        fields_.clear();
        delta_.write(fields_, base, next);
        return std::string(fields_.sealed("key"));
    }
    static std::optional<std::string> made(std::string_view base, std::string_view delta) {
        FieldReader fields("key", delta);
        std::string next;
        return read_delta(fields, base, next) ? std::optional(next) : std::nullopt;
    }

    FieldWriter fields_;
    DeltaWriter delta_;
    OrderSamples samples_{5};
};

TEST_F(DeltaTest, MakesTheOtherValueOfAnyTwo) {
    const std::string text(300, 'x');
    for (const std::string& base : {std::string(), std::string("a"), text, samples_.text(1000)}) {
        for (const std::string& next : {std::string(), std::string("a"), std::string("abcdefgh"),
                                        text + "y" + text, samples_.text(1000)}) {
            EXPECT_EQ(made(base, delta_of(base, next)), next) << base.size() << ' ' << next.size();
        }
    }
}

TEST_F(DeltaTest, MakesAnyEditOfAValue) {
    for (int round = 0; round < 3000; ++round) {
        const std::string base = samples_.text(round % 2 == 0 ? 60 : 900);
        std::string next = base;
        for (std::uint64_t edits = samples_.number(6); edits > 0; --edits) {
            const std::size_t at = samples_.number(next.size() + 1);
            next.replace(at, samples_.number(20),
                         samples_.chance() ? std::string() : samples_.text(20));
        }
        ASSERT_EQ(made(base, delta_of(base, next)), next) << "round " << round;
    }
}

TEST_F(DeltaTest, IsShortIfLittleChanged) {
    const std::string base = samples_.text(1) + std::string(samples_.text(900)) +
                             std::string(200, 'e') + samples_.text(900);
    std::string next = base;
    next[next.size() / 2] = static_cast<char>(next[next.size() / 2] ^ 1);
    next.insert(next.size() / 3, "some words more");
    EXPECT_LT(delta_of(base, next).size(), 60U);
    EXPECT_LT(delta_of(base, base).size(), 12U);
}

TEST_F(DeltaTest, OfAnotherValueIsRefusedOrMakesNoMoreThanItsLimit) {
    const std::string base(500, 'b');
    const std::string delta = delta_of(base, base + "more");
    EXPECT_EQ(made(std::string_view(base).substr(0, 400), delta), std::nullopt);
    fields_.clear();
    fields_.number(2000);
    for (int i = 0; i < 2000; ++i) {
        fields_.text({});
        fields_.number(0);
        fields_.number(500);
    }
    EXPECT_EQ(made(base, fields_.sealed("key")), std::nullopt) << "it would be a million bytes";
}

}  // namespace
}  // namespace sluice::store
