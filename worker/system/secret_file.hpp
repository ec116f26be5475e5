// Secret files: token secrets that people hand to the program, never as an argument.
#pragma once

#include <string>
#include <utility>

#include "core/values/result.hpp"

namespace sluice::cli {

/// What to do with a secret that group or others may read, write or run.
enum class Exposed {
    kRefuse,  ///< kPermission: others could sign with it, too.
    kWarn,    ///< One line on stderr: the file is read to make a token, and may be deleted next.
};

/// Reads the secret in `file` (`-`: standard input) without one final newline.
/// kInvalid if it is empty or longer than 4096 bytes. The message never has the contents.
[[nodiscard]] Result<std::string> read_secret(const std::string& file,
                                              Exposed exposed = Exposed::kRefuse);

/// A new file for one secret, readable by its owner alone; removed again unless it is kept.
class NewSecretFile {
public:
    /// Writes the secret and a newline, durably.
    /// kConflict: there is such a file. kNotFound, kPermission, kNoSpace, kIo; the message names
    /// the path.
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
