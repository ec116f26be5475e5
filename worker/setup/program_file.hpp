// Program file: TOML with one [[program]] table for each program and one [[policy]] table for each
// account that has a policy (conf/samples/program.toml).
#pragma once

#include <string>
#include <string_view>

#include "core/values/result.hpp"
#include "worker/setup/filed.hpp"

namespace sluice::cli {

/// @param name  The file's, for messages.
/// @return at least one program or policy; or kInvalid, `name:line: field: what was expected`.
[[nodiscard]] Result<ProgramFile> parse_program_file(const std::string& name,
                                                     std::string_view text);

/// kInvalid at the first rate above the account's `max_rate` (percent).
[[nodiscard]] Status check_rates(const std::string& name, const FiledProgram& filed,
                                 const Decimal& max_rate);

}  // namespace sluice::cli
