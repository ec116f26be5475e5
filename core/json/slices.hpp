// JSON slices: members and elements of a valid document, as text.
//
// The ledger keeps products as the text that was sent, because a slice preserves every number,
// which a conversion to a machine number does not.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sluice {

[[nodiscard]] constexpr bool is_json_space(char c) noexcept {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

struct JsonMember {
    std::string key;           ///< Unescaped.
    std::string_view value{};  ///< As in the text, without white space around it.
};

/// Returns the members of an object, or none of another value. Requires: `text` is valid JSON.
[[nodiscard]] std::vector<JsonMember> json_members(std::string_view text);
/// Returns the value of the first member of this name, or an empty text.
[[nodiscard]] std::string_view member_of(const std::vector<JsonMember>& members,
                                         std::string_view key);
/// Returns the elements of an array, or none of another value. Requires: `text` is valid JSON.
[[nodiscard]] std::vector<std::string_view> json_elements(std::string_view text);
/// Returns the value of a JSON string with its quotes, or "" of another value. Requires: `text` is
/// valid JSON.
[[nodiscard]] std::string json_string(std::string_view text);
[[nodiscard]] inline bool is_json_string(std::string_view text) noexcept {
    return !text.empty() && text.front() == '"';
}

}  // namespace sluice
