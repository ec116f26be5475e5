// Payees: bank accounts of creators and of the debtor. They are in files of their own and never in
// the ledger (rule P6).
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/values/result.hpp"

namespace sluice::cli {

struct BankAccount {
    std::string name;  ///< 1 to 70 characters of UTF-8, the limit of SEPA.
    std::string iban;  ///< Without spaces, in capitals, with valid check digits.
    std::string bic;   ///< 8 or 11 letters and digits, or empty.
};

/// Keyed by the payee reference of creators.
using Payees = std::map<std::string, BankAccount, std::less<>>;

/// Reads a file with the columns payee,name,iban and optionally bic. Returns kInvalid as
/// `file:line: column: expected`.
[[nodiscard]] Result<Payees> read_payees(const std::string& file);
/// Reads a file of one row with the columns name,iban and optionally bic.
[[nodiscard]] Result<BankAccount> read_debtor(const std::string& file);

/// ISO 13616: two letters, two check digits, up to 30 letters and digits; the remainder is 1.
[[nodiscard]] bool is_iban(std::string_view text) noexcept;
/// ISO 9362: 8 or 11 letters and digits.
[[nodiscard]] bool is_bic(std::string_view text) noexcept;

}  // namespace sluice::cli
