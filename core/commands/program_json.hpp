// Program JSON: a program as one line of JSON, in commands and in the ledger.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/commands/policy.hpp"
#include "core/commands/program.hpp"
#include "core/json/writer.hpp"

namespace sluice {

void write_program(JsonWriter& writer, const Program& program);
[[nodiscard]] std::string encode_program(const Program& program);
/// Nothing: not what encode_program() of this or an earlier release writes. A program of a release
/// without `late_days` reaches back without limit.
[[nodiscard]] std::optional<Program> decode_program(std::string_view json);

void write_policy(JsonWriter& writer, const Policy& policy);
[[nodiscard]] std::string encode_policy(const Policy& policy);
[[nodiscard]] std::optional<Policy> decode_policy(std::string_view json);

}  // namespace sluice
