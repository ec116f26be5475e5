#include "os/libraries/lazy_library.hpp"

#include <dlfcn.h>

#include <stdexcept>
#include <string>

namespace sluice {

Status LazyLibrary::load() const {
    if (handle_.load(std::memory_order_acquire) != nullptr) {
        return Status::success();
    }
    // Two threads that come first at the same time get the same handle.
    void* const handle = ::dlopen(file_, RTLD_LAZY | RTLD_LOCAL);
    if (handle == nullptr) {
        const char* const why = ::dlerror();
        return not_found(std::string(why != nullptr ? why : file_) +
                         ": install it (Debian: apt-get install " + package_ + ")");
    }
    handle_.store(handle, std::memory_order_release);
    return Status::success();
}

void* LazyLibrary::function(const char* name) const {
    if (const Status loaded = load(); !loaded.ok()) {
        throw std::runtime_error(loaded.error().message);
    }
    void* const address = ::dlsym(handle_.load(std::memory_order_acquire), name);
    if (address == nullptr) {
        throw std::runtime_error(std::string(file_) + " has no " + name +
                                 ": install a newer one (Debian: apt-get install " + package_ +
                                 ")");
    }
    return address;
}

}  // namespace sluice
