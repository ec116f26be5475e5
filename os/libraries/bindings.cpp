#include "os/libraries/bindings.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sluice {
namespace {

#if defined(__x86_64__)
constexpr std::uint32_t kCall = R_X86_64_JUMP_SLOT;
#elif defined(__aarch64__)
constexpr std::uint32_t kCall = R_AARCH64_JUMP_SLOT;
#else
constexpr std::uint32_t kCall = 0;  // no relocation of a call: nothing is found
#endif

/// A function that this object calls, and the address that the linker has found.
struct Call {
    const char* name;
    const void* address;
};

/// The dynamic section of this object.
class DynamicSection {
public:
    DynamicSection() {
        static const char kHere = 0;
        Dl_info ignored{};
        void* map = nullptr;
        if (::dladdr1(&kHere, &ignored, &map, RTLD_DL_LINKMAP) != 0) {
            map_ = static_cast<const link_map*>(map);
        }
    }

    /// Returns the names of the libraries that the object was linked with.
    [[nodiscard]] std::vector<const char*> libraries() const {
        std::vector<const char*> names;
        for (const ElfW(Dyn)* entry = first(); entry != nullptr && entry->d_tag != DT_NULL;
             ++entry) {
            if (entry->d_tag == DT_NEEDED) {
                names.push_back(text(entry->d_un.d_val));
            }
        }
        return names;
    }

    [[nodiscard]] std::vector<Call> calls() const {
        std::vector<Call> found;
        const auto* symbols = static_cast<const ElfW(Sym)*>(address(DT_SYMTAB));
        const auto* relocations = static_cast<const ElfW(Rela)*>(address(DT_JMPREL));
        if (value(DT_PLTREL) != DT_RELA || symbols == nullptr || relocations == nullptr) {
            return found;
        }
        for (const ElfW(Rela) & one :
             std::span(relocations, value(DT_PLTRELSZ) / sizeof(*relocations))) {
            if (ELF64_R_TYPE(one.r_info) == kCall) {
                const void* const* slot =
                    reinterpret_cast<void* const*>(map_->l_addr + one.r_offset);
                found.push_back({text(symbols[ELF64_R_SYM(one.r_info)].st_name), *slot});
            }
        }
        return found;
    }

private:
    [[nodiscard]] const ElfW(Dyn) * first() const noexcept {
        return map_ != nullptr ? map_->l_ld : nullptr;
    }
    [[nodiscard]] ElfW(Xword) value(ElfW(Sxword) tag) const noexcept {
        for (const ElfW(Dyn)* entry = first(); entry != nullptr && entry->d_tag != DT_NULL;
             ++entry) {
            if (entry->d_tag == tag) {
                return entry->d_un.d_val;
            }
        }
        return 0;
    }
    /// glibc has added the place of the object to each address, other C libraries have not.
    [[nodiscard]] const void* address(ElfW(Sxword) tag) const noexcept {
        const ElfW(Addr) at = value(tag);
        return at == 0 ? nullptr
                       : reinterpret_cast<const void*>(at < map_->l_addr ? at + map_->l_addr : at);
    }
    [[nodiscard]] const char* text(std::size_t at) const noexcept {
        return static_cast<const char*>(address(DT_STRTAB)) + at;
    }

    const link_map* map_ = nullptr;
};

/// Returns the file of the object that has the address.
std::string object_of(const void* address) {
    Dl_info info{};
    return ::dladdr(address, &info) != 0 && info.dli_fname != nullptr ? info.dli_fname : "";
}

/// Returns true if the function is one of the program itself, or of another file of the library. An
/// object of another name, such as a tracer that was preloaded, passes its calls on.
bool is_foreign(const void* address, std::string_view library) {
    Dl_info info{};
    void* map = nullptr;
    if (::dladdr1(address, &info, &map, RTLD_DL_LINKMAP) == 0) {
        return false;
    }
    const std::string_view path(info.dli_fname != nullptr ? info.dli_fname : "");
    const std::string_view stem = library.substr(0, library.find('.'));
    return static_cast<const link_map*>(map)->l_prev == nullptr ||
           path.substr(path.rfind('/') + 1).starts_with(stem);
}

bool has_prefix(std::string_view library, std::string_view prefixes) {
    for (std::size_t at = 0; at < prefixes.size();) {
        const std::size_t end = std::min(prefixes.find(' ', at), prefixes.size());
        if (library.starts_with(std::string(prefixes.substr(at, end - at)) + ".so")) {
            return true;
        }
        at = end + 1;
    }
    return false;
}

/// Judges the calls of the functions that a library has.
std::optional<MixedLibrary> judge(const char* library, const std::vector<Call>& calls) {
    void* const handle = ::dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    if (handle == nullptr) {
        return std::nullopt;
    }
    MixedLibrary mixed{.library = library};
    for (const Call& call : calls) {
        const void* const here = ::dlsym(handle, call.name);
        const bool is_own = here == call.address;
        if (!is_own && !is_foreign(call.address, library)) {
            continue;
        }
        std::string& function = is_own ? mixed.own_function : mixed.foreign_function;
        // dlsym() also finds the functions of what the library itself needs, such as the C library.
        if (here != nullptr && function.empty() &&
            object_of(here).find(library) != std::string::npos) {
            function = call.name;
            (is_own ? mixed.own_object : mixed.foreign_object) = object_of(call.address);
        }
    }
    ::dlclose(handle);
    const bool both = !mixed.own_function.empty() && !mixed.foreign_function.empty();
    return both ? std::optional(std::move(mixed)) : std::nullopt;
}

}  // namespace

std::optional<MixedLibrary> find_mixed_library(std::string_view prefixes) {
    const DynamicSection section;
    const std::vector<Call> calls = section.calls();
    for (const char* const library : section.libraries()) {
        if (has_prefix(library, prefixes)) {
            if (auto mixed = judge(library, calls)) {
                return mixed;
            }
        }
    }
    return std::nullopt;
}

}  // namespace sluice
