// Payees: bank accounts of creators and of the debtor. They are in files of their own and never in
// the ledger (rule P6).
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/values/result.hpp"

namespace sluice::cli {

/// The parts of an address that a payment has. Empty without one.
struct PostalAddress {
    std::string street, building, postcode, town;
    std::string country;  ///< ISO 3166-1 alpha-2, unless it is text of the payees' file.

    [[nodiscard]] bool empty() const {
        return street.empty() && building.empty() && postcode.empty() && town.empty() &&
               country.empty();
    }
};

struct BankAccount {
    std::string name;  ///< 1 to 70 characters of UTF-8, the limit of SEPA.
    std::string iban;  ///< Without spaces, in capitals, with valid check digits; or empty.
    std::string bic;   ///< 8 or 11 letters and digits, or empty.
    std::vector<std::string> more{};  ///< Fields of Payees::columns.
    PostalAddress address{};
};

/// The payees of a file, and the names of its columns that sluice does not know.
struct Payees {
    std::map<std::string, BankAccount, std::less<>> by_reference;  ///< The creators' payee.
    std::vector<std::string> columns;
    std::string sha256;  ///< SHA-256 of the file's bytes, hexadecimal.
};

/// Reads the columns payee and name, optionally iban and bic, and any others, of which street,
/// building, postcode, town and country are the address too. Returns kInvalid as
/// `file:line: column: expected`.
[[nodiscard]] Result<Payees> read_payees(const std::string& file);

/// The accounts that pay, by currency; the account of an empty currency pays the rest.
using Debtors = std::map<std::string, BankAccount, std::less<>>;
/// Reads the columns name and iban, optionally bic, currency and those of an address; one row for
/// each currency.
[[nodiscard]] Result<Debtors> read_debtors(const std::string& file);
/// Returns the account that pays in the currency, or nullptr.
[[nodiscard]] const BankAccount* debtor_in(const Debtors& debtors, std::string_view currency);

/// Counts the characters of UTF-8 text. Returns nothing if it is not valid UTF-8 or has control
/// characters.
[[nodiscard]] std::optional<std::size_t> characters_of(std::string_view text);
/// ISO 13616: two letters, two check digits, up to 30 letters and digits; the remainder is 1.
[[nodiscard]] bool is_iban(std::string_view text) noexcept;
/// ISO 9362: 8 or 11 letters and digits.
[[nodiscard]] bool is_bic(std::string_view text) noexcept;

}  // namespace sluice::cli
