// JSON fault: where a body stops being the JSON that JsonDocument takes, in words for the sender's
// developer. Slow and careful; only for bodies that were refused.
//
// The words quote some bytes of the body: they may go to its authenticated sender, never to a log
// or into the store.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sluice {

struct JsonFault {
    std::size_t at = 0;         ///< Offset of the first byte that cannot stand there.
    std::string_view expected;  ///< `, or }`, `a digit`, ... Static text.
    friend bool operator==(const JsonFault&, const JsonFault&) = default;
};

/// Nothing: it is such JSON.
[[nodiscard]] std::optional<JsonFault> find_json_fault(std::string_view body);

/// `the body is not valid JSON` with the place behind it: `..., line 1, column 9: expected , or },
/// but after "a": 10 comes ,00}`; or what the body is instead (`it is compressed with gzip: ...`).
/// @param error  JsonDocument::error().
[[nodiscard]] std::string explain_json_error(std::string_view error, std::string_view body);

}  // namespace sluice
