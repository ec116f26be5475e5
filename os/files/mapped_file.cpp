#include "os/files/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>
#include <system_error>

#include "os/files/file_io.hpp"

namespace sluice {
namespace {

/// Drops the pages of one mapping, a line of /proc/self/maps: "begin-end access offset device inode
/// path". Ignores mappings of other files, writable ones and private ones.
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

Result<MappedFile> MappedFile::open(const std::filesystem::path& path, std::size_t bytes) {
    const Result<Fd> opened = open_plain(path, O_RDWR);
    if (!opened) {
        return opened.error();
    }
    const Fd& fd = *opened;
    struct stat info {};
    if (::fstat(fd.get(), &info) != 0) {
        return system_error(errno, "inspect", path);
    }
    if (static_cast<std::size_t>(info.st_size) < bytes) {
        return invalid("\"" + path.string() + "\" is too short");
    }
    void* const data = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
    if (data == MAP_FAILED) {
        return system_error(errno, "map", path);
    }
    return MappedFile(data, bytes);
}

MappedFile::~MappedFile() {
    if (data_ != nullptr) {
        ::munmap(data_, bytes_);
    }
}

void release_mapped_pages(const std::filesystem::path& file) {
    std::error_code failure;
    const std::filesystem::path path = std::filesystem::canonical(file, failure);
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> maps(std::fopen("/proc/self/maps", "re"),
                                                               &std::fclose);
    std::array<char, 4352> line{};  // a path and the fields before it
    while (!failure && maps &&
           std::fgets(line.data(), static_cast<int>(line.size()), maps.get()) != nullptr) {
        release_if_of(line.data(), path.native());
    }
}

}  // namespace sluice
