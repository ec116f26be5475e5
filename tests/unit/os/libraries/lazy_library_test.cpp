#include "os/libraries/lazy_library.hpp"

#include <gmock/gmock.h>

#include <array>
#include <cstddef>
#include <stdexcept>
#include <string>

namespace sluice {
namespace {

using testing::HasSubstr;

constinit const LazyLibrary kMath{"libm.so.6", "libc6"};
constinit const LazyLibrary kStandard{"libc.so.6", "libc6"};
constinit const LazyLibrary kMissing{"libsluice-missing.so.1", "libsluice-missing1"};

TEST(LazyLibrary, AFunctionIsCalledAsDeclared) {
    const LazyFunction<double (*)(double, double)> power{kMath, "pow"};
    EXPECT_EQ(power(2, 10), 1024);
    EXPECT_EQ(power(3, 2), 9);
}

TEST(LazyLibrary, AFunctionTakesFurtherArguments) {
    const LazyFunction<int (*)(char*, std::size_t, const char*, ...)> print{kStandard, "snprintf"};
    std::array<char, 32> text{};
    EXPECT_EQ(print(text.data(), text.size(), "%d %s", 42, "events"), 9);
    EXPECT_STREQ(text.data(), "42 events");
}

TEST(LazyLibrary, AMissingLibraryIsAnErrorThatNamesItsPackage) {
    const Status loaded = kMissing.load();
    ASSERT_FALSE(loaded.ok());
    EXPECT_EQ(loaded.error().code, ErrorCode::kNotFound);
    EXPECT_THAT(loaded.error().message, HasSubstr("libsluice-missing.so.1: "));
    EXPECT_THAT(loaded.error().message, HasSubstr("apt-get install libsluice-missing1"));
    const LazyFunction<void (*)()> function{kMissing, "anything"};
    EXPECT_THROW(function(), std::runtime_error);
}

TEST(LazyLibrary, AFunctionThatALibraryLacksIsNamed) {
    ASSERT_TRUE(kMath.load().ok());
    try {
        (void)kMath.function("no_such_function");
        FAIL();
    } catch (const std::runtime_error& error) {
        EXPECT_THAT(error.what(), HasSubstr("libm.so.6 has no no_such_function: "));
    }
}

}  // namespace
}  // namespace sluice
