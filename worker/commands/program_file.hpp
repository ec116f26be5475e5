// Program file: TOML with one [[program]] table for each program (conf/samples/program.toml).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/commands/program.hpp"
#include "core/values/result.hpp"

namespace sluice::cli {

/// A program with the lines where its parts stand, for messages about them.
struct FiledProgram {
    Program program;  ///< `account` (the number) is not known yet.
    std::uint32_t line = 0;
    std::uint32_t account_line = 0;
    std::vector<std::uint32_t> shop_lines;  ///< One for each of program.shops.
};

/// @param name  The file's, for messages.
/// @return at least one program; or kInvalid, `name:line: what was expected`.
[[nodiscard]] Result<std::vector<FiledProgram>> parse_program_file(const std::string& name,
                                                                   std::string_view text);

}  // namespace sluice::cli
