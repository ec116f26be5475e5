// Program file: TOML with one [[program]] table for each program and one [[policy]] table for each
// account that has a policy (conf/samples/program.toml).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/programs/policy.hpp"
#include "core/programs/program.hpp"
#include "core/values/result.hpp"

namespace sluice::cli {

/// A rate with its line and its key.
struct FiledRate {
    std::uint32_t line = 0;
    std::string field;
    Rate rate;
};

/// A program with the lines of its parts, for messages.
struct FiledProgram {
    Program program;  ///< `account` (the number) is not known yet.
    std::uint32_t account_line = 0;
    std::vector<std::uint32_t> shop_lines;  ///< One for each of program.shops.
    std::vector<FiledRate> rates;           ///< All of them, tiers too.
};

struct FiledPolicy {
    Policy policy;  ///< `account` (the number) is not known yet.
    std::uint32_t account_line = 0;
};

struct ProgramFile {
    std::vector<FiledProgram> programs;
    std::vector<FiledPolicy> policies;
};

/// @param name  The file's name, for messages.
/// @return at least one program or policy; or kInvalid as `name:line: field: expectation`.
[[nodiscard]] Result<ProgramFile> parse_program_file(const std::string& name,
                                                     std::string_view text);

/// Returns kInvalid at the first rate above the account's `max_rate` (percent).
[[nodiscard]] Status check_rates(const std::string& name, const FiledProgram& filed,
                                 const Decimal& max_rate);

}  // namespace sluice::cli
