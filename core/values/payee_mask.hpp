// Payee mask: how a reference to a bank account is shown to people.
#pragma once

#include <string>
#include <string_view>

namespace sluice {

/// Returns four dots and the last 4 characters of a payee, or the dots alone if it has under 8.
[[nodiscard]] std::string masked_payee(std::string_view payee);

}  // namespace sluice
