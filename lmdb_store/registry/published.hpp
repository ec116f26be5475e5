// Published registry: the copy that nginx's workers read. Internal to lmdb_store.
//
//   registry/published   a copy of the registry's environment, which never changes, and a seal: its
//                        generation and a checksum. Each change of the registry replaces it by
//                        rename.
//   registry/generation  a page with the generation of the last copy. Readers map it for reading.
//
// Readers of an LMDB environment write to its lock file, and processes that share the file trust
// it. A reader of the copy writes to nothing, so that nginx's workers need only read permission.
// A copy that is damaged, or older than the page says, is refused. publish.hpp writes both files.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>

#include "core/values/result.hpp"
#include "lmdb_store/store/format.hpp"
#include "os/files/file_io.hpp"

namespace sluice::store {

[[nodiscard]] inline std::filesystem::path published_file(const StorePaths& paths) {
    return paths.registry / "published";
}
[[nodiscard]] inline std::filesystem::path generation_file(const StorePaths& paths) {
    return paths.registry / "generation";
}

/// The generation of what is published: a page that is mapped for reading.
class PublishedGeneration {
public:
    /// Maps the registry's page. Returns kCorrupt if it is missing or cut off.
    [[nodiscard]] static Result<PublishedGeneration> open(const StorePaths& paths);
    /// Maps the page in this file. Returns kNotFound if it is missing, and kCorrupt if it is cut
    /// off.
    [[nodiscard]] static Result<PublishedGeneration> open(const std::filesystem::path& page);
    /// Changes after a copy was replaced. Never blocks, and makes no system call.
    [[nodiscard]] std::uint64_t current() const noexcept {
        return page_->load(std::memory_order_acquire);
    }
    /// Returns false once the file is another one than was mapped.
    [[nodiscard]] bool still_in_place() const noexcept;

private:
    struct Unmap {
        void operator()(const std::atomic<std::uint64_t>* page) const noexcept;
    };
    PublishedGeneration() = default;

    std::unique_ptr<const std::atomic<std::uint64_t>, Unmap> page_;
    std::filesystem::path path_;
    dev_t device_ = 0;
    ino_t inode_ = 0;
};

/// The last bytes of a copy; part of the disk format.
struct CopySeal {
    std::array<char, 8> magic = {'S', 'L', 'C', 'R', 'E', 'G', 'C', '1'};
    std::uint64_t generation = 0;
    std::uint64_t bytes = 0;               ///< Length of the pages.
    std::uint32_t signing_tokens_max = 0;  ///< Most of one account; 1 to kActiveTokensMax.
    std::uint32_t crc = 0;                 ///< CRC-32C of the pages and of the fields above.

    /// Returns what `crc` should be.
    [[nodiscard]] std::uint32_t crc_after(std::uint32_t crc_of_pages) const noexcept;
};

/// Length of the page of the generation.
inline constexpr std::size_t kGenerationBytes = 4096;

/// Calls `use(offset, bytes)` with the first `bytes_count` bytes of a file, piece by piece, until
/// it returns an errno. Zeros stand for what lies behind the end of the file, because LMDB does not
/// write free pages there. Returns 0 or an errno.
[[nodiscard]] int each_piece(int fd, std::uint64_t bytes_count,
                             const std::function<int(std::uint64_t, std::string_view)>& use);
struct SealedCopy {
    Fd file;
    CopySeal seal;
};
/// Opens the copy and reads its seal. Returns kCorrupt if the copy is cut off.
[[nodiscard]] Result<SealedCopy> open_copy(const StorePaths& paths);
/// Opens the copy and reads all of it. Returns kCorrupt if it is cut off, if one of its bytes is
/// wrong, or if it is older than `generation`.
[[nodiscard]] Result<SealedCopy> open_sealed_copy(const StorePaths& paths,
                                                  std::uint64_t generation);

}  // namespace sluice::store
