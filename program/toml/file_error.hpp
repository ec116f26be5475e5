// Errors of a file that a person wrote.
#pragma once

#include <cstdint>
#include <string>

#include "core/values/result.hpp"

namespace sluice::cli {

/// Returns `name:line: what`.
[[nodiscard]] Error error_at(const std::string& name, std::uint32_t line, const std::string& what);

}  // namespace sluice::cli
