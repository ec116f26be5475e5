#include "lmdb_store/lanes/cells.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace sluice::store {
namespace {

constexpr unsigned kCheckBits = 24;
constexpr std::uint64_t kCheckMask = (std::uint64_t{1} << kCheckBits) - 1;

/// splitmix64's finalizer: every bit of the input moves about half of the output's.
std::uint64_t mix(std::uint64_t word) noexcept {
    word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9U;
    word = (word ^ (word >> 27)) * 0x94D049BB133111EBU;
    return word ^ (word >> 31);
}

Error damaged(const std::filesystem::path& path, const char* what) {
    return {ErrorCode::kCorrupt,
            "\"" + path.string() + "\" " + what +
                ": the store is damaged; nothing was changed. Restore it from a backup (with the "
                "store stopped, a file of " +
                std::to_string(LaneCells::kFileBytes) + " zero bytes will do as well)"};
}

}  // namespace

std::uint64_t cell_key(const Uuid& lane, const Uuid& boot) noexcept {
    std::uint64_t key = 0x6C616E65;
    for (const Uuid* uuid : {&lane, &boot}) {
        for (const std::uint8_t byte : *uuid) {
            key = mix(key + byte);
        }
    }
    return key;
}

void put_cell(std::atomic<std::uint64_t>& word, std::uint64_t position,
              std::uint64_t key) noexcept {
    const std::uint64_t blocks = position / kLaneBlockBytes;
    word.store(blocks << kCheckBits | (mix(blocks ^ key) & kCheckMask));
}

std::optional<std::uint64_t> get_cell(const std::atomic<std::uint64_t>& word,
                                      std::uint64_t key) noexcept {
    const std::uint64_t stored = word.load();
    const std::uint64_t blocks = stored >> kCheckBits;
    return (stored & kCheckMask) == (mix(blocks ^ key) & kCheckMask)
               ? std::optional(blocks * kLaneBlockBytes)
               : std::nullopt;
}

Status LaneCells::create(const std::filesystem::path& path, const FileOwner& owner) {
    return replace_file(path, std::string(kFileBytes, '\0'), owner);
}

Result<LaneCells> LaneCells::open(const std::filesystem::path& path) {
    const Fd fd(open_retrying(path.c_str(), O_RDWR));
    struct stat info {};
    if (!fd.ok() || ::fstat(fd.get(), &info) != 0) {
        return errno == ENOENT ? damaged(path, "is missing") : system_error(errno, "write", path);
    }
    if (static_cast<std::uint64_t>(info.st_size) < kFileBytes) {
        return damaged(path, "is too short");
    }
    void* mapped = ::mmap(nullptr, kFileBytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
    if (mapped == MAP_FAILED) {
        return system_error(errno, "map", path);
    }
    return LaneCells(static_cast<LaneCell*>(mapped));
}

LaneCells::~LaneCells() {
    if (cells_ != nullptr) {
        ::munmap(cells_, kFileBytes);
    }
}

}  // namespace sluice::store
