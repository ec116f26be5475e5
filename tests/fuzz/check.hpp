// FUZZ_CHECK: an invariant that must hold for every input.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#define FUZZ_CHECK(condition)                                                                     \
    do {                                                                                          \
        if (!(condition)) {                                                                       \
            std::fprintf(stderr, "does not hold: %s at %s:%d\n", #condition, __FILE__, __LINE__); \
            std::abort();                                                                         \
        }                                                                                         \
    } while (false)

namespace sluice::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

/// Takes the first byte off, to choose a variant with.
inline unsigned take_choice(std::string_view& text) {
    if (text.empty()) {
        return 0;
    }
    const auto choice = static_cast<unsigned char>(text.front());
    text.remove_prefix(1);
    return choice;
}

}  // namespace sluice::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
