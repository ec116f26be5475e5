// JSON slices: members and elements of a document that was found valid before, as text.
//
// The ledger keeps products as the text that was sent: a slice keeps every number equal in value,
// whatever its size, which no conversion to a machine number does.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice {

struct JsonMember {
    std::string key;         ///< Unescaped.
    std::string_view value;  ///< As it stands in the text, without white space around it.
};

/// Requires: `text` is a valid JSON document. Not an object: no members.
[[nodiscard]] std::vector<JsonMember> json_members(std::string_view text);
/// Requires: `text` is a valid JSON document. Not an array: no elements.
[[nodiscard]] std::vector<std::string_view> json_elements(std::string_view text);
/// Requires: `text` is a valid JSON string with its quotes. Anything else: "".
[[nodiscard]] std::string json_string(std::string_view text);
[[nodiscard]] inline bool is_json_string(std::string_view text) noexcept {
    return !text.empty() && text.front() == '"';
}

}  // namespace sluice
