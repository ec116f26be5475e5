// Payment: instructions to a bank, and their file: CSV, JSON or ISO 20022 pain.001.001.09 (rule
// P6).
//
// The bytes of a file depend only on the ledger and the payout destinations, so a repeated message
// has the same bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/values/decimal.hpp"
#include "core/values/money.hpp"
#include "core/values/result.hpp"
#include "core/values/timestamp.hpp"
#include "worker/bank/payees.hpp"

namespace sluice::cli {

struct Payment {
    std::string payout_id;  ///< End-to-end id.
    std::string creator_id;
    std::string payee;
    Decimal amount;  ///< Positive.
    BankAccount to;
};

struct PaymentMessage {
    std::string message_id;  ///< Command id of the `payout sent` that it belongs to.
    std::string account_id;
    Timestamp created_at;  ///< Receipt of that command.
    Currency currency;
    std::optional<BankAccount> debtor;  ///< Required for kPain.
    std::vector<Payment> payments;      ///< Sorted by payout id; at least one.
};

enum class PaymentForm : std::uint8_t { kCsv, kJson, kPain };
[[nodiscard]] Result<PaymentForm> parse_payment_form(std::string_view text);

/// Requires, for kPain: a debtor and a successful check_pain().
[[nodiscard]] std::string payment_file(const PaymentMessage& message, PaymentForm form);

/// Returns kInvalid with the payouts that pain.001 cannot carry: currencies other than EUR, amounts
/// above the limit of SEPA.
[[nodiscard]] Status check_pain(const PaymentMessage& message);

/// Writes one group header, one payment information, and a transaction for each payment. Requires:
/// a debtor and a successful check_pain().
[[nodiscard]] std::string pain_file(const PaymentMessage& message);

}  // namespace sluice::cli
