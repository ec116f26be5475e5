// Raw JSON: text laid out for people without reading its numbers, so that every number is written
// as it was sent.
#pragma once

#include <string>
#include <string_view>

namespace sluice::cli {

/// The same JSON, a member or element to a line, two spaces for each level, without a final
/// newline. `level` is that of the line on which it begins. Requires: valid JSON.
[[nodiscard]] std::string indented(std::string_view json, unsigned level);

}  // namespace sluice::cli
