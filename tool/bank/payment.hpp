// Payment: instructions to a bank, and their file: CSV, JSON or ISO 20022 pain.001.001.09 (rule
// P6).
//
// A message has a random id and the time of its creation. So a file is kept when it is written, and
// --again writes the kept bytes (tool/finance/kept_export).
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
#include "tool/bank/payees.hpp"

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
    std::optional<BankAccount> debtor;    ///< Required for kPain.
    std::vector<Payment> payments;        ///< Sorted by payout id; at least one.
    std::string execution_date{};         ///< YYYY-MM-DD; empty means the day of created_at.
    std::vector<std::string> more{};      ///< Names of BankAccount::more.
    bool names_remittance = false;        ///< JSON, and CSV without chosen columns, have it.
    std::optional<bool> batch_booking{};  ///< Absent leaves it to the bank.
};

enum class PaymentForm : std::uint8_t { kCsv, kJson, kPain };

/// A column of a CSV file: a field of the payment, a column of the payees' file, or a fixed text.
struct PaymentColumn {
    std::string header;
    std::string field;  ///< Empty means the fixed text.
    std::string text;   ///< With a field: the text if the payees' file lacks the column.
};
/// Columns of a CSV file, and the limits of the program that reads it.
struct PaymentColumns {
    std::vector<PaymentColumn> columns;  ///< Empty means all, under their own names.
    bool has_header = true;
    std::size_t rows_max = 0;  ///< Payments of one file; 0 means no limit.
    bool is_wise = false;      ///< wise_reference_max() holds.
};
/// Returns the most characters of a reference that Wise passes on in the currency, or 0 if that is
/// not known.
[[nodiscard]] std::size_t wise_reference_max(std::string_view currency);
/// Returns the text for the payee's statement if none is chosen: the payout id, or its short form
/// if the id is too long for the file's reader.
[[nodiscard]] std::string_view default_remittance(const PaymentColumns& columns, Currency currency);
/// Parses `wise`, `paypal`, or a list such as `Name=name,Amount=amount,Kind='EMAIL'`.
[[nodiscard]] Result<PaymentColumns> parse_payment_columns(std::string_view text);
/// Returns kInvalid if a column names no field of the message, or if a reference is too long.
[[nodiscard]] Status check_columns(const PaymentColumns& columns, const PaymentMessage& message);

/// Replaces `{month}`, `{payout}`, `{short}` and `{creator}` in the text for the payee's statement.
/// `{short}` is the payout id's last parts, the number first: 00017KQ4M9. Returns kInvalid unless
/// the result is 1 to 140 characters of UTF-8.
/// @param until  End of the payout run; the month is the one before it.
[[nodiscard]] Result<std::string> remittance_text(std::string_view pattern, const Payment& payment,
                                                  Timestamp until);

/// Requires, for kPain: a debtor and a successful prepare_pain(); for kCsv: a successful
/// check_columns().
[[nodiscard]] std::string payment_file(const PaymentMessage& message, PaymentForm form,
                                       const PaymentColumns& columns);

/// Writes names, addresses and remittance texts in the characters that banks take. Returns kInvalid
/// with what pain.001 cannot carry: payees without an IBAN, amounts above the limit of SEPA, an
/// address without town or country, or a character that has no form.
[[nodiscard]] Status prepare_pain(PaymentMessage& message);

/// Writes one group header, one payment information, and a transaction for each payment. Requires:
/// a debtor and a successful prepare_pain().
[[nodiscard]] std::string pain_file(const PaymentMessage& message);

}  // namespace sluice::cli
