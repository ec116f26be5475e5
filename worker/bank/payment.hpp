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
    std::string remittance;  ///< For the payee's statement, 1 to 140 characters.
};

struct PaymentMessage {
    std::string message_id;  ///< As the memo entries SENT name it.
    std::string account_id;
    Timestamp created_at;
    Currency currency;
    std::optional<BankAccount> debtor;  ///< Required for kPain.
    std::vector<Payment> payments;      ///< Sorted by payout id; at least one.
    std::string execution_date{};       ///< YYYY-MM-DD; empty means the day of created_at.
    std::vector<std::string> more{};    ///< Names of BankAccount::more.
    bool names_remittance = false;      ///< JSON, and CSV without chosen columns, have it.
};

enum class PaymentForm : std::uint8_t { kCsv, kJson, kPain };
[[nodiscard]] Result<PaymentForm> parse_payment_form(std::string_view text);

/// A column of a CSV file: a field of the payment, a column of the payees' file, or a fixed text.
struct PaymentColumn {
    std::string header;
    std::string field;  ///< Empty means the fixed text.
    std::string text;
};
/// Columns of a CSV file.
struct PaymentColumns {
    std::vector<PaymentColumn> columns;  ///< Empty means all, under their own names.
    bool has_header = true;
};
/// Parses `wise`, `paypal`, or a list such as `Name=name,Amount=amount,Kind='EMAIL'`.
[[nodiscard]] Result<PaymentColumns> parse_payment_columns(std::string_view text);
/// Returns kInvalid if a column names no field of the message.
[[nodiscard]] Status check_columns(const PaymentColumns& columns, const PaymentMessage& message);

/// Replaces `{month}`, `{payout}` and `{creator}` in the text for the payee's statement. kInvalid
/// unless the result is 1 to 140 characters of UTF-8.
/// @param until  End of the payout run; the month is the one before it.
[[nodiscard]] Result<std::string> remittance_text(std::string_view pattern, const Payment& payment,
                                                  Timestamp until);

/// Requires, for kPain: a debtor and a successful check_pain(); for kCsv: a successful
/// check_columns().
[[nodiscard]] std::string payment_file(const PaymentMessage& message, PaymentForm form,
                                       const PaymentColumns& columns);

/// Returns kInvalid with the payouts that pain.001 cannot carry: currencies other than EUR, amounts
/// above the limit of SEPA, payees without an IBAN.
[[nodiscard]] Status check_pain(const PaymentMessage& message);

/// Writes one group header, one payment information, and a transaction for each payment. Requires:
/// a debtor and a successful check_pain().
[[nodiscard]] std::string pain_file(const PaymentMessage& message);

}  // namespace sluice::cli
