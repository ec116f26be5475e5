// Calls of the store to LMDB and to the system that fail on purpose, one at a time.
//
// The linker gives this program's calls (-Wl,--wrap, failing_calls.txt) to failing_calls.cpp;
// what LMDB and the C++ library call by themselves is left alone.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sluice::store {

/// While it lives, the n-th call (from 0) whose name begins with `family`, and so many from there
/// on, fail with `error`: as the code that LMDB returns, or as errno. Not thread-safe; one at a
/// time.
class FailingCall {
public:
    FailingCall(std::string_view family, int nth, int error, int times = 1);
    FailingCall(const FailingCall&) = delete;
    FailingCall& operator=(const FailingCall&) = delete;
    ~FailingCall();

    [[nodiscard]] bool struck() const;
    /// Which call it was (the last one), for messages.
    [[nodiscard]] std::string name() const;
    /// From here on nothing fails.
    void disarm();
};

/// While it lives, every folder seems to lie on a file system of this type (statfs()'s f_type).
class FileSystemType {
public:
    explicit FileSystemType(long type);
    FileSystemType(const FileSystemType&) = delete;
    FileSystemType& operator=(const FileSystemType&) = delete;
    ~FileSystemType();
};

/// Bytes that the store's calls of pread() have returned.
[[nodiscard]] std::uint64_t bytes_read_by_pread();

inline constexpr int kForGood = 1'000'000;
inline constexpr std::string_view kLmdb = "mdb_";
inline constexpr std::string_view kSystem = "sys_";

/// Runs `round(call)` with the n-th call failing, for n = 0, 1, ... until no call is left to fail.
/// `round` makes a new scene, and builds the FailingCall with what it is given.
/// @return how many were struck.
template <class Round>
int fail_each(Round&& round, int rounds_max = 5000) {
    int nth = 0;
    while (nth < rounds_max && round(nth)) {
        ++nth;
    }
    return nth;
}

}  // namespace sluice::store
