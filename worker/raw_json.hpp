// Raw JSON: objects taken apart and laid out without reading their numbers, so that every number is
// written as it was sent.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice::cli {

struct RawMember {
    std::string name;   ///< Decoded.
    std::string value;  ///< JSON text.
};

/// The members of an object, in order. Requires: `json` is one valid JSON object.
[[nodiscard]] std::vector<RawMember> split_object(std::string_view json);

/// The same JSON, a member or element to a line, two spaces for each level, without a final
/// newline. `level` is that of the line on which it begins. Requires: valid JSON.
[[nodiscard]] std::string indented(std::string_view json, unsigned level);

}  // namespace sluice::cli
