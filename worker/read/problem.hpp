// Problems: errors as application/problem+json (RFC 9457). They never repeat a value that
// was sent.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "worker/read/http.hpp"

namespace sluice::serve {

/// One error that the API can answer with.
struct ProblemKind {
    unsigned status;
    std::string_view code;
    std::string_view title;
};
/// Returns all of them, in the order of the checks.
[[nodiscard]] const std::vector<ProblemKind>& problem_kinds();

struct ParameterError {
    std::string parameter, message;
};

/// @param code    One of problem_kinds().
/// @param detail  More for the caller, or empty.
[[nodiscard]] Answer problem(std::string_view code, std::string_view detail = {});
[[nodiscard]] Answer parameter_problem(const std::vector<ParameterError>& errors);

}  // namespace sluice::serve
