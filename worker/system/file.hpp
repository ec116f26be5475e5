// Files of the command line: descriptors that close themselves, whole files, atomic replacement.
#pragma once

#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "core/values/result.hpp"

namespace sluice::cli {

class UniqueFd {
public:
    UniqueFd() = default;
    explicit UniqueFd(int fd) noexcept : fd_(fd) {}
    UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    UniqueFd& operator=(UniqueFd&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    UniqueFd(const UniqueFd&) = delete;
    UniqueFd& operator=(const UniqueFd&) = delete;
    ~UniqueFd();

    [[nodiscard]] int get() const noexcept { return fd_; }
    [[nodiscard]] bool valid() const noexcept { return fd_ >= 0; }

private:
    int fd_ = -1;
};

struct FileCloser {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using UniqueFile = std::unique_ptr<std::FILE, FileCloser>;

/// kNotFound, kPermission, kIo; the message names the path.
[[nodiscard]] Result<UniqueFile> open_for_reading(const std::string& path);
/// kInvalid if the file is larger than `bytes_max`.
[[nodiscard]] Result<std::string> read_file(const std::string& path, std::size_t bytes_max);
/// Replaces the file in one step: a reader sees the old or the new contents, also after a crash.
[[nodiscard]] Status replace_file(const std::string& path, std::string_view contents);

/// `path: what the system says`, with the code that fits errno.
[[nodiscard]] Error system_error(const std::string& path, int error_number);

}  // namespace sluice::cli
