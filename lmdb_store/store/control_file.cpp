#include "lmdb_store/store/control_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>

namespace sluice::store {
namespace {

constexpr std::size_t kPageBytes = 4096;
constexpr std::uint64_t kMagic = 0x314C525443434C53;  // "SLCCTRL1", little endian
constexpr std::uint64_t kFormat = 1;

Error damaged(const StorePaths& paths, const char* what) {
    return {ErrorCode::kCorrupt,
            "\"" + paths.control.string() + "\" " + what +
                ": the store is damaged; nothing was changed. Restore it from a backup (with the "
                "store stopped, a file of 4096 zero bytes will do as well)"};
}

}  // namespace

Status ControlFile::create(const StorePaths& paths, const FileOwner& owner) {
    std::string page(kPageBytes, '\0');
    std::memcpy(page.data(), &kMagic, sizeof(kMagic));
    std::memcpy(page.data() + sizeof(kMagic), &kFormat, sizeof(kFormat));
    return replace_file(paths.control, page, owner);
}

Result<ControlFile> ControlFile::open(const StorePaths& paths) {
    const Fd fd(::open(paths.control.c_str(), O_RDWR | O_CLOEXEC));
    if (!fd.ok()) {
        return errno == ENOENT ? damaged(paths, "is missing")
                               : system_error(errno, "write", paths.control);
    }
    struct stat info {};
    if (::fstat(fd.get(), &info) != 0) {
        return system_error(errno, "look at", paths.control);
    }
    if (static_cast<std::size_t>(info.st_size) < kPageBytes) {
        return damaged(paths, "is too short");
    }
    void* mapped = ::mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
    if (mapped == MAP_FAILED) {
        return system_error(errno, "map", paths.control);
    }
    ControlFile file(static_cast<ControlWords*>(mapped));
    ControlWords& words = file.words();
    if (words.magic == 0 && words.format == 0) {  // a page of zeros knows nothing, which is fine
        words.magic = kMagic;
        words.format = kFormat;
    }
    if (words.magic != kMagic || words.format != kFormat) {
        return damaged(paths, "is no control page");
    }
    return file;
}

ControlFile::~ControlFile() {
    if (words_ != nullptr) {
        ::munmap(words_, kPageBytes);
    }
}

}  // namespace sluice::store
