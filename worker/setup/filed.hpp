// Filed: programs and policies with the lines of the file where they stand.
//
// Plain values without behaviour; they own their bytes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/commands/policy.hpp"
#include "core/commands/program.hpp"

namespace sluice::cli {

/// A rate with the line where it stands and the key that it stands under.
struct FiledRate {
    std::uint32_t line = 0;
    std::string field;
    Rate rate;
};

/// A program with the lines where its parts stand, for messages about them.
struct FiledProgram {
    Program program;  ///< `account` (the number) is not known yet.
    std::uint32_t line = 0;
    std::uint32_t account_line = 0;
    std::vector<std::uint32_t> shop_lines;  ///< One for each of program.shops.
    std::vector<FiledRate> rates;           ///< All of them, tiers too.
};

struct FiledPolicy {
    Policy policy;  ///< `account` (the number) is not known yet.
    std::uint32_t line = 0;
    std::uint32_t account_line = 0;
};

struct ProgramFile {
    std::vector<FiledProgram> programs;
    std::vector<FiledPolicy> policies;
};

}  // namespace sluice::cli
