// Seeds of simulations: SLUICE_SEED is the first one (1 otherwise), SLUICE_SEEDS how many.
#pragma once

#include <cstdint>
#include <cstdlib>

namespace sluice {

inline std::uint64_t number_from_environment(const char* name, std::uint64_t otherwise) {
    const char* const text = std::getenv(name);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

inline std::uint64_t test_seed() {
    return number_from_environment("SLUICE_SEED", 1);
}

inline std::uint64_t test_seeds(std::uint64_t otherwise) {
    return number_from_environment("SLUICE_SEEDS", otherwise);
}

}  // namespace sluice
