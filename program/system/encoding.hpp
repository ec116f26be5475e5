// Encodings of text, changed by the C library.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sluice::cli {

/// Returns the text in the encoding `to`, or nullopt if it is not in the encoding `from`, or has a
/// character that `to` lacks.
/// @param from,to  Encodings that the C library certainly has.
[[nodiscard]] std::optional<std::string> recoded(std::string_view text, const char* from,
                                                 const char* to);

}  // namespace sluice::cli
