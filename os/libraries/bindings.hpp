// Bindings: from which objects the dynamic linker took the functions that this object calls.
//
// The program comes first in the linker's search. If it has a library of its own inside (nginx with
// a static OpenSSL, AWS-LC or BoringSSL) and exports it, as nginx does, a module calls the
// program's functions instead of those of the library that it was linked with; and if the program's
// library lacks some of them, the calls are mixed, and each library gets the other's structures.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sluice {

/// Two objects that each have functions of one library.
struct MixedLibrary {
    std::string library;                       ///< libcrypto.so.3
    std::string own_function{}, own_object{};  ///< A function, and the library that it comes from.
    std::string foreign_function{}, foreign_object{};
};

/// Returns the first library whose functions this object (the program, or the module that contains
/// this code) calls in two objects, or nothing. Looks at the libraries that it was linked with and
/// whose names begin with one of `prefixes`. A function that a preloaded object of another name
/// has, such as a tracer, is no other library's. Thread: any. Loads nothing.
/// @param prefixes  Names up to ".so", separated by spaces: "libcrypto liblmdb".
[[nodiscard]] std::optional<MixedLibrary> find_mixed_library(std::string_view prefixes);

}  // namespace sluice
