// The functions of this program come from one libcrypto. tests/integration/test_configuration.py
// has the other case, in an nginx with a part of another one.
#include "os/libraries/bindings.hpp"

#include <gtest/gtest.h>

namespace sluice {
namespace {

TEST(Bindings, AreOfOneLibraryWhereNoOtherObjectHasItsFunctions) {
    EXPECT_FALSE(find_mixed_library("libcrypto liblmdb").has_value());
}

TEST(Bindings, OfALibraryThatIsNotNamedAreNotJudged) {
    EXPECT_FALSE(find_mixed_library("").has_value());
    EXPECT_FALSE(find_mixed_library("libnothing").has_value());
}

}  // namespace
}  // namespace sluice
