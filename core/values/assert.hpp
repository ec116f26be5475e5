// SLUICE_ASSERT: stays on in release builds. For programmer errors only; never for input, disk
// contents or peers (those are Results). Prints and aborts; nginx's master respawns its worker.
//
// A thread that only reads, and answers one request at a time, has more to lose than to protect by
// an abort: it declares an AssertionScope, in which a failure is thrown, and answers 500.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace sluice {

class AssertionFailed : public std::logic_error {
public:
    using std::logic_error::logic_error;
};

/// While one exists, failed assertions of this thread throw AssertionFailed. Scopes may be nested.
class AssertionScope {
public:
    AssertionScope() noexcept { ++depth(); }
    ~AssertionScope() { --depth(); }
    AssertionScope(const AssertionScope&) = delete;
    AssertionScope& operator=(const AssertionScope&) = delete;
    [[nodiscard]] static bool is_open() noexcept { return depth() != 0; }

private:
    static unsigned& depth() noexcept {
        static thread_local unsigned depth = 0;
        return depth;
    }
};

[[noreturn]] inline void fail_assertion(const char* condition, const char* file, int line) {
    std::fprintf(stderr, "sluice: assertion failed: %s at %s:%d\n", condition, file, line);
    if (AssertionScope::is_open()) {
        throw AssertionFailed(condition);
    }
    std::abort();
}

}  // namespace sluice

#define SLUICE_ASSERT(condition)                                      \
    do {                                                              \
        if (!(condition)) [[unlikely]] {                              \
            ::sluice::fail_assertion(#condition, __FILE__, __LINE__); \
        }                                                             \
    } while (false)
