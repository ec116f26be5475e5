// Files that a person named on the command line: streams that close themselves, and whole files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

#include "core/values/result.hpp"

namespace sluice::cli {

struct FileCloser {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using UniqueFile = std::unique_ptr<std::FILE, FileCloser>;

/// A file or a pipe.
[[nodiscard]] Result<UniqueFile> open_for_reading(const std::string& path);
enum class Existing : std::uint8_t { kEmptied, kAppendedTo };
/// Only the owner may read what it makes: customers' data can be in it.
[[nodiscard]] Result<UniqueFile> open_for_writing(const std::string& path, Existing existing);
/// All of a file or a pipe. kInvalid if it is larger than `bytes_max`.
[[nodiscard]] Result<std::string> read_to_end(const std::string& path, std::size_t bytes_max);

}  // namespace sluice::cli
