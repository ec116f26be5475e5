// pain.001.001.09: a credit transfer as ISO 20022 has it, within what SEPA takes.
#pragma once

#include <string>

#include "core/values/result.hpp"
#include "worker/bank/payment.hpp"

namespace sluice::cli {

/// What pain.001 cannot take: another currency than EUR, an amount that SEPA does not carry.
/// kInvalid names the payouts.
[[nodiscard]] Status check_pain(const PaymentMessage& message);

/// One group header, one payment information, a transaction for each payment. Requires: a debtor,
/// check_pain().
[[nodiscard]] std::string pain_file(const PaymentMessage& message);

}  // namespace sluice::cli
