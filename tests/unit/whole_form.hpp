// Some tests have a short form, which `make test` runs and which still fails if their rule is
// broken, and the whole one (SLUICE_WHOLE), which `make test-more` and `make coverage` run.
#pragma once

#include <cstdlib>

namespace sluice {

inline bool is_whole_form() {
    return std::getenv("SLUICE_WHOLE") != nullptr;
}

/// How many, of what a test tries.
template <class T>
T whole_or_short(T whole, T short_form) {
    return is_whole_form() ? whole : short_form;
}

}  // namespace sluice
