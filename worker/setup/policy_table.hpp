// Policy table: one [[policy]] of a program file.
#pragma once

#include "worker/setup/filed.hpp"
#include "worker/setup/toml_table.hpp"

namespace sluice::cli {

/// Throws TomlMistake.
[[nodiscard]] FiledPolicy policy_of(const toml::node& node);

}  // namespace sluice::cli
