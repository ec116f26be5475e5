// Body layouts: the bytes that a sender may have signed before its HTTP library wrote the same JSON
// anew, or in another encoding. For `sluice verify`.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace sluice::cli {

/// Calls `try_body` with each likely form of `body`, and with words for it (`with a space behind
/// each comma and colon (Python's json.dumps), keys sorted`), until it returns true.
/// @return the words of that form; empty: none was it.
[[nodiscard]] std::string find_signed_layout(
    std::string_view body, const std::function<bool(const std::string& signed_body)>& try_body);

}  // namespace sluice::cli
