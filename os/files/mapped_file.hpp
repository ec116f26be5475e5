// Mapped files: memory that processes share through a file, and the resident pages of mappings.
#pragma once

#include <cstddef>
#include <filesystem>
#include <utility>

#include "core/values/result.hpp"

namespace sluice {

/// A file mapped for reading and writing, shared with all processes that map it. Unmaps itself.
class MappedFile {
public:
    /// Maps the first `bytes` of an existing file. kNotFound if it is missing, kInvalid if it is
    /// shorter.
    [[nodiscard]] static Result<MappedFile> open(const std::filesystem::path& path,
                                                 std::size_t bytes);
    MappedFile(MappedFile&& other) noexcept
        : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
    MappedFile& operator=(MappedFile&& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;
    ~MappedFile();

    [[nodiscard]] void* data() const noexcept { return data_; }

private:
    MappedFile(void* data, std::size_t bytes) noexcept : data_(data), bytes_(bytes) {}

    void* data_ = nullptr;
    std::size_t bytes_ = 0;
};

/// Drops the resident pages of this process's read-only shared mappings of `file`. Pointers into
/// them stay valid: the pages remain in the page cache, and reading them costs a page fault. Does
/// nothing if /proc cannot be read. Threads: any.
///
/// The kernel counts each page that was read as memory of the process until another program needs
/// the memory. A report over millions of rows would appear to hold them all, and a limit on the
/// process's memory would kill it.
void release_mapped_pages(const std::filesystem::path& file);

}  // namespace sluice
