// Payment file: what a bank is told to pay, as CSV, JSON or ISO 20022 pain.001.001.09 (books P6).
//
// Its bytes come from the ledger and the file of payees alone: the same message again is the same
// bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/values/result.hpp"
#include "worker/bank/payment.hpp"

namespace sluice::cli {

enum class PaymentForm : std::uint8_t { kCsv, kJson, kPain };
[[nodiscard]] Result<PaymentForm> parse_payment_form(std::string_view text);

/// Requires, for kPain: a debtor and check_pain() (pain.hpp).
[[nodiscard]] std::string payment_file(const PaymentMessage& message, PaymentForm form);

}  // namespace sluice::cli
