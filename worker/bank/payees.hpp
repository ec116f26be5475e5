// Payees: bank accounts of those who are paid, and of who pays. They are in files of their own and
// never in the ledger (books P6).
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/values/result.hpp"

namespace sluice::cli {

struct BankAccount {
    std::string name;  ///< 1 to 70 characters, UTF-8, as SEPA takes them.
    std::string iban;  ///< Without spaces, in capitals; its check digits are right.
    std::string bic;   ///< 8 or 11 letters and digits; empty: none.
};

/// By the reference that creators have as their payee.
using Payees = std::map<std::string, BankAccount, std::less<>>;

/// Columns payee,name,iban and, if wanted, bic. kInvalid: `file:line: column: expected`.
[[nodiscard]] Result<Payees> read_payees(const std::string& file);
/// Columns name,iban and, if wanted, bic; one row.
[[nodiscard]] Result<BankAccount> read_debtor(const std::string& file);

/// ISO 13616: two letters, two check digits, up to 30 letters and digits; the remainder is 1.
[[nodiscard]] bool is_iban(std::string_view text) noexcept;
/// ISO 9362: 8 or 11 letters and digits.
[[nodiscard]] bool is_bic(std::string_view text) noexcept;

}  // namespace sluice::cli
