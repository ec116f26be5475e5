// The functions of this program come from one libcrypto. tests/integration/test_configuration.py
// has the other case, in an nginx with a part of another one.
#include "os/libraries/bindings.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(Bindings, AreOfOneLibraryWhereNoOtherObjectHasItsFunctions) {
    const auto mixed = find_mixed_library("libcrypto liblmdb");
    EXPECT_FALSE(mixed.has_value()) << mixed->own_function << " of " << mixed->own_object << ", "
                                    << mixed->foreign_function << " of " << mixed->foreign_object;
}

TEST(Bindings, OfALibraryThatIsNotNamedAreNotJudged) {
    EXPECT_FALSE(find_mixed_library("").has_value());
    EXPECT_FALSE(find_mixed_library("libnothing").has_value());
}

}  // namespace
}  // namespace sluice
