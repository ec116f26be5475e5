#include "lmdb_store/environment/mapped_pages.hpp"

#include <sys/mman.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>
#include <system_error>

namespace sluice::store {
namespace {

struct FileCloser {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};

/// One line of /proc/self/maps: "begin-end access offset device inode path".
void release_if_of(const char* line, std::string_view path) noexcept {
    unsigned long begin = 0;
    unsigned long end = 0;
    std::array<char, 5> access{};
    const char* const slash = std::strchr(line, '/');
    if (slash == nullptr || std::sscanf(line, "%lx-%lx %4s", &begin, &end, access.data()) != 3) {
        return;
    }
    std::string_view mapped(slash);
    mapped.remove_suffix(mapped.ends_with('\n') ? 1 : 0);
    if (mapped == path && access[1] == '-' && access[3] == 's') {
        ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
    }
}

}  // namespace

void release_mapped_pages(const std::filesystem::path& file) {
    std::error_code failure;
    const std::filesystem::path path = std::filesystem::canonical(file, failure);
    const std::unique_ptr<std::FILE, FileCloser> maps(std::fopen("/proc/self/maps", "re"));
    std::array<char, 4352> line{};  // a path and what stands before it
    while (!failure && maps &&
           std::fgets(line.data(), static_cast<int>(line.size()), maps.get()) != nullptr) {
        release_if_of(line.data(), path.native());
    }
}

}  // namespace sluice::store
