// A file that stays open, with errors that name its path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "core/values/result.hpp"
#include "os/files/file_io.hpp"

namespace sluice {

/// Closes itself when destroyed; does not sync by itself. One thread at a time writes.
class OpenFile {
public:
    enum class Mode : std::uint8_t { kRead, kReadWrite };

    /// The file is there already: replace_file() makes one.
    [[nodiscard]] static Result<OpenFile> open(const std::filesystem::path& path, Mode mode);

    /// Up to `bytes` from `offset`; fewer only at the end of the file.
    [[nodiscard]] Result<std::string> read_at(std::uint64_t offset, std::size_t bytes) const;
    /// All of `bytes` at `offset`, or an error: then what lies behind `offset` is undefined.
    [[nodiscard]] Status write_at(std::uint64_t offset, std::string_view bytes);
    [[nodiscard]] Status truncate(std::uint64_t bytes);
    /// Contents and length, not the times (fdatasync).
    [[nodiscard]] Status sync();
    [[nodiscard]] Result<std::uint64_t> size() const;
    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

private:
    OpenFile(Fd fd, std::filesystem::path path) : fd_(std::move(fd)), path_(std::move(path)) {}

    Fd fd_;
    std::filesystem::path path_;
};

}  // namespace sluice
