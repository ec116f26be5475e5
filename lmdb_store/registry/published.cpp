#include "lmdb_store/registry/published.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include "core/values/crc32c.hpp"

namespace sluice::store {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kPieceBytes = std::size_t{256} << 10;

Error unusable(const fs::path& path, const std::string& what) {
    return {ErrorCode::kCorrupt,
            "\"" + path.string() + "\" " + what +
                ": it should be a copy of the registry as it is now, and nginx "
                "accepts nothing without it. Run \"sluice registry publish\""};
}

}  // namespace

Result<PublishedGeneration> PublishedGeneration::open(const StorePaths& paths) {
    const fs::path path = generation_file(paths);
    Result<PublishedGeneration> page = open(path);
    if (page) {
        return page;
    }
    return page.error().code == ErrorCode::kNotFound  ? unusable(path, "is missing")
           : page.error().code == ErrorCode::kCorrupt ? unusable(path, "is cut off")
                                                      : page.error();
}

Result<PublishedGeneration> PublishedGeneration::open(const fs::path& path) {
    PublishedGeneration page;
    page.path_ = path;
    const Result<Fd> fd = open_plain(page.path_, O_RDONLY);
    if (!fd) {
        return fd.error();
    }
    struct stat info {};
    if (::fstat(fd->get(), &info) != 0) {
        return system_error(errno, "inspect", page.path_);
    }
    if (info.st_size < off_t{kGenerationBytes}) {
        return corrupt("\"" + path.string() + "\" is cut off");
    }
    page.device_ = info.st_dev;
    page.inode_ = info.st_ino;
    void* const mapped = ::mmap(nullptr, kGenerationBytes, PROT_READ, MAP_SHARED, fd->get(), 0);
    if (mapped == MAP_FAILED) {
        return system_error(errno, "map", page.path_);
    }
    page.page_.reset(static_cast<const std::atomic<std::uint64_t>*>(mapped));
    return page;
}

void PublishedGeneration::Unmap::operator()(const std::atomic<std::uint64_t>* page) const noexcept {
    ::munmap(const_cast<std::atomic<std::uint64_t>*>(page), kGenerationBytes);
}

bool PublishedGeneration::still_in_place() const noexcept {
    struct stat info {};
    return ::stat(path_.c_str(), &info) == 0 && info.st_dev == device_ && info.st_ino == inode_ &&
           info.st_size >= off_t{kGenerationBytes};
}

std::uint32_t CopySeal::crc_after(std::uint32_t crc_of_pages) const noexcept {
    static_assert(sizeof(CopySeal) == 32);
    return crc32c(crc_of_pages, {reinterpret_cast<const char*>(this), offsetof(CopySeal, crc)});
}

int each_piece(int fd, std::uint64_t bytes_count,
               const std::function<int(std::uint64_t, std::string_view)>& use) {
    std::vector<char> piece;
    for (std::uint64_t at = 0; at < bytes_count; at += piece.size()) {
        piece.resize(
            static_cast<std::size_t>(std::min<std::uint64_t>(kPieceBytes, bytes_count - at)));
        const std::int64_t count = read_at(fd, piece.data(), piece.size(), at);
        if (count < 0) {
            return static_cast<int>(-count);
        }
        std::fill(piece.begin() + count, piece.end(), '\0');
        if (const int rc = use(at, {piece.data(), piece.size()}); rc != 0) {
            return rc;
        }
    }
    return 0;
}

Result<SealedCopy> open_copy(const StorePaths& paths) {
    const fs::path path = published_file(paths);
    Result<Fd> fd = open_plain(path, O_RDONLY);
    if (!fd) {
        return fd.error().code == ErrorCode::kNotFound ? unusable(path, "is missing") : fd.error();
    }
    struct stat info {};
    if (::fstat(fd->get(), &info) != 0) {
        return system_error(errno, "inspect", path);
    }
    const auto size = static_cast<std::uint64_t>(info.st_size);
    CopySeal seal;
    if (size < sizeof(seal)) {
        return unusable(path, "is cut off");
    }
    const std::int64_t count = read_at(fd->get(), &seal, sizeof(seal), size - sizeof(seal));
    if (count < 0) {
        return system_error(static_cast<int>(-count), "read", path);
    }
    if (seal.magic != CopySeal().magic || seal.bytes != size - sizeof(seal)) {
        return unusable(path, "is cut off or damaged");
    }
    return SealedCopy{std::move(*fd), seal};
}

Result<SealedCopy> open_sealed_copy(const StorePaths& paths, std::uint64_t generation) {
    const fs::path path = published_file(paths);
    Result<SealedCopy> copy = open_copy(paths);
    if (!copy) {
        return copy;
    }
    const CopySeal& seal = copy->seal;
    std::uint32_t crc = 0;
    const auto add = [&crc](std::uint64_t /*at*/, std::string_view piece) {
        crc = crc32c(crc, piece);
        return 0;
    };
    if (const int rc = each_piece(copy->file.get(), seal.bytes, add); rc != 0) {
        return system_error(rc, "read", path);
    }
    if (seal.crc_after(crc) != seal.crc) {
        return unusable(path, "is damaged");
    }
    if (seal.generation < generation) {
        return unusable(path, "is older than the last change (copy " +
                                  std::to_string(seal.generation) + " of " +
                                  std::to_string(generation) + ")");
    }
    return copy;
}

}  // namespace sluice::store
