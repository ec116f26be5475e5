// Secret files: token secrets that people hand to the program, never as an argument.
#pragma once

#include <string>

#include "core/result.hpp"

namespace sluice::cli {

/// Reads the secret in `file` (`-`: standard input) without one final newline.
/// kPermission if group or others may read, write or run the file: then it is no secret.
/// kInvalid if it is empty or longer than 4096 bytes. The message never has the contents.
[[nodiscard]] Result<std::string> read_secret(const std::string& file);

}  // namespace sluice::cli
