// Body layouts, for `sluice verify`: the bytes that a sender may have signed before its HTTP
// library rewrote the same JSON, or encoded it differently.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace sluice::cli {

/// Calls `try_body` with each likely form of `body`, and with words for it (`with a space behind
/// each comma and colon (Python's json.dumps), keys sorted`), until it returns true.
/// @return the words of that form, or an empty text if there was none.
[[nodiscard]] std::string find_signed_layout(
    std::string_view body, const std::function<bool(const std::string& signed_body)>& try_body);

}  // namespace sluice::cli
