// Shell words: names of files in commands that a message tells a person to run.
#pragma once

#include <string>
#include <string_view>

namespace sluice {

/// Returns `text` as one word of a shell's command line, so that the shell runs no part of it. A
/// file's name may contain quotes, `$(...)` and bytes that a terminal obeys. Bytes that are not
/// printable ASCII are written as $'\x1b', which bash, ksh and zsh understand.
[[nodiscard]] std::string shell_word(std::string_view text);

}  // namespace sluice
