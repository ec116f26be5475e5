#include "lmdb_store/environment/lmdb_version.hpp"

#include <fcntl.h>
#include <lmdb.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "lmdb_store/environment/lmdb_format.hpp"
#include "os/files/file_io.hpp"

/// Copies of LMDB between its releases of 0.9 and 1.0 have numbers from 0.9.70 on: 0.9.70 has the
/// lock file of 1.0, 0.9.90 its data file as well.
#define SLUICE_IS_LMDB_KNOWN(major, minor, patch) ((major) == 0 && (minor) == 9 && (patch) < 70)

#if !SLUICE_IS_LMDB_KNOWN(MDB_VERSION_MAJOR, MDB_VERSION_MINOR, MDB_VERSION_PATCH)
#error "sluice needs LMDB 0.9, and this lmdb.h is of another version: docs/building.md"
#endif

namespace sluice::store {
namespace {

constexpr const char* kRemedy =
    "sluice needs LMDB 0.9; nothing is damaged, and nothing was changed (docs/operations.md, LMDB)";

/// The first bytes of a data file. They reach to both places where a release of LMDB has its magic
/// number and version.
struct FileHead {
    std::array<char, 32> bytes{};

    [[nodiscard]] std::uint32_t number(std::size_t at) const noexcept {
        std::uint32_t word = 0;
        std::memcpy(&word, bytes.data() + at, sizeof(word));
        return word;
    }
};

/// Where 1.0 has the magic number: behind page number, transaction and flags.
constexpr std::size_t kMagicOf10 = 24;

/// Returns the LMDB that wrote the file, as far as it is another one than 0.9; else an empty text.
std::string other_version(const FileHead& head) {
    const bool is_09 = head.number(sizeof(LmdbPageHead)) == kLmdbMagic;
    if (!is_09 && head.number(kMagicOf10) != kLmdbMagic) {
        return {};
    }
    const std::uint32_t version =
        head.number((is_09 ? sizeof(LmdbPageHead) : kMagicOf10) + sizeof(kLmdbMagic));
    if (is_09 && version == kLmdbDataVersion) {
        return {};
    }
    return (is_09 ? "another LMDB" : "LMDB 1.0 or newer") + std::string(" (data version ") +
           std::to_string(version) + ")";
}

}  // namespace

std::string lmdb_name() {
    int major = 0;
    int minor = 0;
    int patch = 0;
    mdb_version(&major, &minor, &patch);
    return "LMDB " + std::to_string(major) + "." + std::to_string(minor) + "." +
           std::to_string(patch);
}

Status check_library() {
    int major = 0;
    int minor = 0;
    int patch = 0;
    mdb_version(&major, &minor, &patch);
    if (SLUICE_IS_LMDB_KNOWN(major, minor, patch)) {
        return Status::success();
    }
    return unsupported("this process has loaded " + lmdb_name() + ": " + kRemedy);
}

Status check_format(const std::filesystem::path& data_file) {
    const Fd fd(open_retrying(data_file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
    FileHead head;
    if (!fd.ok()) {
        return system_error(errno, "read", data_file);
    }
    const std::int64_t got = read_at(fd.get(), head.bytes.data(), head.bytes.size(), 0);
    if (got < 0) {
        return system_error(static_cast<int>(-got), "read", data_file);
    }
    const std::string written_by = other_version(head);
    return written_by.empty() ? Status::success()
                              : Status(unsupported("\"" + data_file.string() + "\" is a file of " +
                                                   written_by + ": " + kRemedy));
}

}  // namespace sluice::store
