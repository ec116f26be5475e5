#include "worker/bank/payees.hpp"

#include <simdjson.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "worker/cli/csv_reader.hpp"

namespace sluice::cli {
namespace {

constexpr std::size_t kNameCharactersMax = 70;  // of a SEPA message

bool is_capital(char c) {
    return c >= 'A' && c <= 'Z';
}
bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
bool is_capital_or_digit(char c) {
    return is_capital(c) || is_digit(c);
}

/// Counts the characters of UTF-8 text, or returns nothing if it is not valid UTF-8 or has control
/// characters.
std::optional<std::size_t> characters_of(std::string_view text) {
    const auto is_control = [](char c) { return (c >= 0 && c < 0x20) || c == 0x7F; };
    if (!simdjson::validate_utf8(text.data(), text.size()) ||
        std::any_of(text.begin(), text.end(), is_control)) {
        return std::nullopt;
    }
    const auto begins_character = [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    };
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string without_spaces(std::string text) {
    text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
    return text;
}

Result<BankAccount> account_of(std::string name, std::string iban, std::string bic) {
    BankAccount account{std::move(name), without_spaces(std::move(iban)), std::move(bic)};
    const auto characters = characters_of(account.name);
    if (!characters || *characters == 0 || *characters > kNameCharactersMax) {
        return Error{ErrorCode::kInvalid, "name: expected 1 to 70 characters of UTF-8"};
    }
    if (!is_iban(account.iban)) {
        return Error{ErrorCode::kInvalid, "iban: expected an IBAN with right check digits"};
    }
    if (!account.bic.empty() && !is_bic(account.bic)) {
        return Error{ErrorCode::kInvalid, "bic: expected 8 or 11 capital letters and digits"};
    }
    return account;
}

/// Reads a table whose columns end in name,iban and bic; `take` gets a row and its account.
Status read_accounts(const std::string& file, const CsvColumns& columns,
                     const std::function<Status(const CsvRow&, BankAccount)>& take) {
    const std::size_t at = columns.required.size() - 2;
    return read_rows(file, columns, [&](const CsvRow& row) {
        auto account = account_of(row.fields[at], row.fields[at + 1], row.fields[at + 2]);
        return account.ok() ? take(row, std::move(account).value()) : Status(account.error());
    });
}

}  // namespace

bool is_iban(std::string_view text) noexcept {
    constexpr std::size_t kBytesMin = 15, kBytesMax = 34;
    if (text.size() < kBytesMin || text.size() > kBytesMax || !is_capital(text[0]) ||
        !is_capital(text[1]) || !is_digit(text[2]) || !is_digit(text[3]) ||
        !std::all_of(text.begin(), text.end(), is_capital_or_digit)) {
        return false;
    }
    unsigned remainder = 0;  // of the number that country and check digits end, letters from 10 on
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[(i + 4) % text.size()];
        const unsigned value =
            is_digit(c) ? static_cast<unsigned>(c - '0') : static_cast<unsigned>(c - 'A') + 10U;
        remainder = (remainder * (value < 10 ? 10U : 100U) + value) % 97U;
    }
    return remainder == 1;
}

bool is_bic(std::string_view text) noexcept {
    return (text.size() == 8 || text.size() == 11) &&
           std::all_of(text.begin(), text.begin() + 4, is_capital_or_digit) &&
           is_capital(text[4]) && is_capital(text[5]) &&
           std::all_of(text.begin() + 6, text.end(), is_capital_or_digit);
}

Result<Payees> read_payees(const std::string& file) {
    Payees payees;
    Status read = read_accounts(
        file, {{"payee", "name", "iban"}, {"bic"}}, [&](const CsvRow& row, BankAccount account) {
            if (row.fields[0].empty()) {
                return Status(
                    Error{ErrorCode::kInvalid, "payee: expected a text that is not empty"});
            }
            if (!payees.emplace(row.fields[0], std::move(account)).second) {
                return Status(Error{ErrorCode::kInvalid, "payee: expected each once, found " +
                                                             row.fields[0] + " again"});
            }
            return Status::success();
        });
    return read.ok() ? Result<Payees>(std::move(payees)) : Result<Payees>(read.error());
}

Result<BankAccount> read_debtor(const std::string& file) {
    std::vector<BankAccount> accounts;
    Status read = read_accounts(file, {{"name", "iban"}, {"bic"}},
                                [&](const CsvRow& /*row*/, BankAccount account) {
                                    accounts.push_back(std::move(account));
                                    return Status::success();
                                });
    if (!read.ok()) {
        return read.error();
    }
    if (accounts.size() != 1) {
        return Error{ErrorCode::kInvalid, file + ":2: expected one row: the account that pays"};
    }
    return accounts.front();
}

}  // namespace sluice::cli
