// Files that a person named on the command line: streams, whole files, and files of one secret.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "core/values/result.hpp"

namespace sluice::cli {

struct FileCloser {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using UniqueFile = std::unique_ptr<std::FILE, FileCloser>;

/// Opens a file or a pipe.
[[nodiscard]] Result<UniqueFile> open_for_reading(const std::string& path);
enum class Existing : std::uint8_t { kEmptied, kAppendedTo };
/// Creates files that only the owner may read, because they can hold customers' data.
[[nodiscard]] Result<UniqueFile> open_for_writing(const std::string& path, Existing existing);
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

/// A new file for one secret, readable by its owner only. The destructor removes it unless keep()
/// was called.
class NewSecretFile {
public:
    /// Writes the secret and a newline, durably.
    /// Returns kConflict if the file exists, or kNotFound, kPermission, kNoSpace, kIo. The message
    /// names the path.
    [[nodiscard]] static Result<NewSecretFile> create(const std::string& path,
                                                      const std::string& secret);
    NewSecretFile(NewSecretFile&& other) noexcept;
    NewSecretFile& operator=(NewSecretFile&&) = delete;
    NewSecretFile(const NewSecretFile&) = delete;
    NewSecretFile& operator=(const NewSecretFile&) = delete;
    ~NewSecretFile();

    void keep() noexcept { keeps_ = true; }

private:
    explicit NewSecretFile(std::string path) noexcept : path_(std::move(path)) {}

    std::string path_;
    bool keeps_ = false;
};

}  // namespace sluice::cli
