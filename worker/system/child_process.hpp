// Child process: runs a program without a shell and collects its output.
#pragma once

#include <string>
#include <vector>

#include "core/values/result.hpp"

namespace sluice::cli {

struct ChildOutput {
    int status = 0;      ///< Exit status; -1: ended by a signal.
    std::string output;  ///< Standard output and standard error, at most 4 MB.
};

/// @param arguments  The program (looked for in PATH) and its arguments.
/// kNotFound: there is no such program.
[[nodiscard]] Result<ChildOutput> run_child(const std::vector<std::string>& arguments);

}  // namespace sluice::cli
