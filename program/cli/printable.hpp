// Printable: text of files and people, made safe for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace sluice::cli {

/// Makes text safe for a terminal: control and invisible characters become \xNN or \uNNNN, and
/// bytes that are not UTF-8 \xNN.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace sluice::cli
