// Secret files: token secrets that people hand to the program, never as an argument.
#pragma once

#include <string>

#include "core/values/result.hpp"

namespace sluice::cli {

/// What to do with a secret that group or others may read, write or run.
enum class Exposed {
    kRefuse,  ///< kPermission: what is signed with it is worth nothing.
    kWarn,    ///< One line on stderr: it is about to become a secret, and may have been made for
              ///< that.
};

/// Reads the secret in `file` (`-`: standard input) without one final newline.
/// kInvalid if it is empty or longer than 4096 bytes. The message never has the contents.
[[nodiscard]] Result<std::string> read_secret(const std::string& file,
                                              Exposed exposed = Exposed::kRefuse);

}  // namespace sluice::cli
