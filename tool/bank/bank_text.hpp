// Bank text: the characters that every bank takes in a payment.
#pragma once

#include <string>
#include <string_view>

#include "core/values/result.hpp"

namespace sluice::cli {

/// Returns the text in the letters a-z and A-Z, digits, spaces and `/-?:().,'+`, which SEPA and
/// SWIFT share. Latin and Greek letters and marks are converted as in EPC217-08. Returns kInvalid
/// with the first character that has no such form, such as `'😀' (U+1F600)`: a Cyrillic letter has
/// none, because its Latin form depends on the language. Requires: UTF-8.
[[nodiscard]] Result<std::string> bank_text(std::string_view text);

}  // namespace sluice::cli
