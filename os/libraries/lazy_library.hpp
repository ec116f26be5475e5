// Lazy libraries: shared libraries that are loaded when a command first calls one of their
// functions. libcurl and libpq bring 29 others (LDAP, Kerberos, SSH, GnuTLS ...), which most
// commands never use. Without them a command starts in less time, and the worker of a store without
// PostgreSQL has none of them in memory.
#pragma once

#include <atomic>

#include "core/values/result.hpp"

namespace sluice {

/// A shared library. It stays loaded until the process ends. Thread: any.
class LazyLibrary {
public:
    /// @param file     The name that the dynamic linker looks for: libpq.so.5
    /// @param package  Debian's package, for the error.
    constexpr LazyLibrary(const char* file, const char* package) noexcept
        : file_(file), package_(package) {}

    /// Loads the library unless it is loaded.
    [[nodiscard]] Status load() const;
    /// Returns the address of a function, of which the library is loaded. Throws std::runtime_error
    /// if there is none.
    [[nodiscard]] void* function(const char* name) const;

private:
    const char* file_;
    const char* package_;
    mutable std::atomic<void*> handle_{nullptr};
};

/// A function of a lazy library, called as the library's header declares it. In the namespace of
/// its callers it hides the header's declaration.
/// @tparam Function  Pointer to the function.
template <class Function>
class LazyFunction {
public:
    constexpr LazyFunction(const LazyLibrary& library, const char* name) noexcept
        : library_(&library), name_(name) {}

    /// Finds the address at the first call.
    operator Function() const {  // NOLINT(google-explicit-constructor)
        Function address = address_.load(std::memory_order_acquire);
        if (address == nullptr) {
            address = reinterpret_cast<Function>(library_->function(name_));
            address_.store(address, std::memory_order_release);
        }
        return address;
    }

private:
    const LazyLibrary* library_;
    const char* name_;
    mutable std::atomic<Function> address_{nullptr};
};

}  // namespace sluice

/// Defines `name` as the function of that name, which the library's header declares and documents.
#define SLUICE_LAZY_FUNCTION(library, name)                                 \
    inline constinit const ::sluice::LazyFunction<decltype(&::name)> name { \
        library, #name                                                      \
    }
