// Files that a person named on the command line: streams, whole files, and files of one secret.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "core/values/result.hpp"
#include "program/system/named_file.hpp"

namespace sluice::cli {

struct FileCloser {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using UniqueFile = std::unique_ptr<std::FILE, FileCloser>;

/// Opens a file or a pipe.
[[nodiscard]] Result<UniqueFile> open_for_reading(const std::string& path);
enum class Existing : std::uint8_t { kEmptied, kAppendedTo };
/// Opens a file that grows while a command runs. Creates files that only the owner may read,
/// because they can hold customers' data.
[[nodiscard]] Result<UniqueFile> open_for_writing(const std::string& path, Existing existing);
/// Reads a file a line at a time.
class FileLines {
public:
    /// @param file  Must outlive the object.
    explicit FileLines(std::FILE* file) : file_(file) {}
    FileLines(const FileLines&) = delete;
    FileLines& operator=(const FileLines&) = delete;
    ~FileLines() { std::free(line_); }

    /// Returns false at the end of the file, or if it cannot be read.
    /// @param line  With its end; valid until the next call.
    [[nodiscard]] bool next(std::string_view& line);
    [[nodiscard]] bool failed() const noexcept { return std::ferror(file_) != 0; }
    /// The number of the line that was read last, from 1.
    [[nodiscard]] std::uint64_t number() const noexcept { return number_; }

private:
    std::FILE* file_;
    char* line_ = nullptr;
    std::size_t room_ = 0;
    std::uint64_t number_ = 0;
};

/// Reads all of a file or a pipe. Returns kInvalid if it is larger than `bytes_max`.
[[nodiscard]] Result<std::string> read_to_end(const std::string& path, std::size_t bytes_max);

/// How to treat a secret that group or others may read, write or execute.
enum class Exposed {
    kRefuse,  ///< Return kPermission, because other users could sign with it.
    kWarn,    ///< Warn on stderr. The file serves to make a token and may be deleted next.
};

/// Reads the secret in `file` (`-`: standard input) without one final newline.
/// Returns kInvalid if it is empty or longer than 4096 bytes. No message contains the secret.
[[nodiscard]] Result<std::string> read_secret(const std::string& file,
                                              Exposed exposed = Exposed::kRefuse);

/// Writes the secret and a newline to a new file, durably, readable by its owner only. The file
/// goes unless keep() is called. Returns kConflict if the file exists, or kNotFound, kPermission,
/// kNoSpace, kIo. The message names the path.
[[nodiscard]] Result<OutputFile> write_new_secret(const std::string& path,
                                                  const std::string& secret);

/// A folder of its own below that of TMPDIR, removed with the object.
class TemporaryFolder {
public:
    /// @param name  The beginning of its name.
    [[nodiscard]] static Result<TemporaryFolder> make(const std::string& name);
    TemporaryFolder(TemporaryFolder&& other) noexcept;
    TemporaryFolder& operator=(TemporaryFolder&&) = delete;
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    ~TemporaryFolder();

    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }

private:
    explicit TemporaryFolder(std::filesystem::path path) noexcept : path_(std::move(path)) {}

    std::filesystem::path path_;
};

}  // namespace sluice::cli
