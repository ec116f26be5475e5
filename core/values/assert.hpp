// SLUICE_ASSERT: stays on in release builds. For programmer errors only; never for input, disk
// contents or peers (those are Results). Prints and aborts; nginx's master respawns its worker.
#pragma once

#include <cstdio>
#include <cstdlib>

#define SLUICE_ASSERT(condition)                                                                  \
    do {                                                                                          \
        if (!(condition)) [[unlikely]] {                                                          \
            std::fprintf(stderr, "sluice: assertion failed: %s at %s:%d\n", #condition, __FILE__, \
                         __LINE__);                                                               \
            std::abort();                                                                         \
        }                                                                                         \
    } while (false)
