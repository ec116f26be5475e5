// JSON fault: the place where a body stops being the JSON that JsonDocument accepts, in words for
// the sender's developer. Slow; only for bodies that were refused.
//
// The text quotes bytes of the body, so it may go to the authenticated sender, but never to a log
// or into the store.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

struct JsonFault {
    std::size_t at = 0;         ///< Offset of the first byte that is not allowed there.
    std::string_view expected;  ///< `, or }`, `a digit`, ... Static text.
    friend bool operator==(const JsonFault&, const JsonFault&) = default;
};

/// Returns nothing if the body is valid.
[[nodiscard]] std::optional<JsonFault> find_json_fault(std::string_view body);

/// Returns `the body is not valid JSON` and the place: `..., line 1, column 9: expected , or }, but
/// after "a": 10 comes ,00}`; or what the body is instead (`it is compressed with gzip: ...`).
/// @param error  JsonDocument::error().
[[nodiscard]] std::string explain_json_error(std::string_view error, std::string_view body);

}  // namespace sluice
