#include "tool/bank/payees.hpp"

#include <simdjson.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "core/protocol/signature.hpp"
#include "core/values/lookup.hpp"
#include "core/values/money.hpp"
#include "core/values/texts.hpp"
#include "os/files/file_io.hpp"
#include "program/cli/cli.hpp"
#include "program/cli/csv_reader.hpp"
#include "program/system/file.hpp"

namespace sluice::cli {
namespace {

constexpr std::size_t kNameCharactersMax = 70;  // of a SEPA message

bool is_capital_or_digit(char c) {
    return is_ascii_capital(c) || is_ascii_digit(c);
}

std::string without_spaces(std::string text) {
    std::erase(text, ' ');
    return text;
}

/// @param needs_iban  An account without an IBAN is an error.
Result<BankAccount> account_of(const std::string& name, const std::string& iban,
                               const std::string& bic, bool needs_iban) {
    BankAccount account{name, without_spaces(iban), bic};
    const auto characters = characters_of(account.name);
    if (!characters || *characters == 0 || *characters > kNameCharactersMax) {
        return invalid("name: expected 1 to 70 characters of UTF-8");
    }
    if ((needs_iban || !account.iban.empty()) && !is_iban(account.iban)) {
        return invalid("iban: expected an IBAN with right check digits");
    }
    if (!account.bic.empty() && !is_bic(account.bic)) {
        return invalid("bic: expected 8 or 11 capital letters and digits");
    }
    return account;
}

/// Returns the field of an address that the column has, or nullptr.
std::string* address_field(PostalAddress& address, std::string_view column) {
    return column == "street"     ? &address.street
           : column == "building" ? &address.building
           : column == "postcode" ? &address.postcode
           : column == "town"     ? &address.town
           : column == "country"  ? &address.country
                                  : nullptr;
}

/// A column of the payees must not take the place of a field of the payment.
Status check_names(const std::vector<std::string>& columns) {
    std::set<std::string> taken{"message_id", "payout_id", "creator_id", "currency", "amount",
                                "remittance", ""};
    for (const std::string& column : columns) {
        if (!taken.insert(column).second) {
            return invalid("column '" + column + "': expected another name, each once");
        }
    }
    return Status::success();
}

Status check_text(const std::string& column, const std::string& text) {
    return characters_of(text) ? Status::success()
                               : invalid(column +
                                         ": expected UTF-8 without control "
                                         "characters");
}

}  // namespace

std::optional<std::size_t> characters_of(std::string_view text) {
    const auto is_control = [](char c) {
        return static_cast<unsigned char>(c) < 0x20 || c == 0x7F;
    };
    if (!simdjson::validate_utf8(text.data(), text.size()) ||
        std::ranges::any_of(text, is_control)) {
        return std::nullopt;
    }
    const auto begins_character = [](char c) {
        return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    };
    return static_cast<std::size_t>(std::ranges::count_if(text, begins_character));
}

bool is_iban(std::string_view text) noexcept {
    constexpr std::size_t kBytesMin = 15, kBytesMax = 34;
    if (text.size() < kBytesMin || text.size() > kBytesMax || !is_ascii_capital(text[0]) ||
        !is_ascii_capital(text[1]) || !is_ascii_digit(text[2]) || !is_ascii_digit(text[3]) ||
        !std::ranges::all_of(text, is_capital_or_digit)) {
        return false;
    }
    unsigned remainder = 0;  // of the number that country and check digits end, letters from 10 on
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[(i + 4) % text.size()];
        const unsigned value = is_ascii_digit(c) ? static_cast<unsigned>(c - '0')
                                                 : static_cast<unsigned>(c - 'A') + 10U;
        remainder = (remainder * (value < 10 ? 10U : 100U) + value) % 97U;
    }
    // ISO 13616 computes check digits from 02 to 98: 00, 01 and 99 would spell an account twice.
    const unsigned check =
        10U * static_cast<unsigned>(text[2] - '0') + static_cast<unsigned>(text[3] - '0');
    return remainder == 1 && check >= 2 && check <= 98;
}

bool is_bic(std::string_view text) noexcept {
    return (text.size() == 8 || text.size() == 11) &&
           std::all_of(text.begin(), text.begin() + 4, is_capital_or_digit) &&
           is_ascii_capital(text[4]) && is_ascii_capital(text[5]) &&
           std::all_of(text.begin() + 6, text.end(), is_capital_or_digit);
}

Result<Payees> read_payees(const std::string& file) {
    constexpr std::size_t kKnown = 4;
    constexpr std::size_t kBytesMax = std::size_t{64} << 20;
    auto bytes = read_to_end(file, kBytesMax);
    if (!bytes.ok()) {
        return bytes.error();
    }
    const UniqueFile input(::fmemopen(bytes->data(), bytes->size(), "r"));
    if (input == nullptr) {
        return system_error(errno, "read", file);
    }
    Payees payees;
    payees.sha256 = to_hex(sha256(*bytes));
    bool names_checked = false;
    const CsvColumns columns{{"payee", "name"}, {"iban", "bic"}, &payees.columns};
    const Status read = read_rows(input.get(), file, columns, [&](const CsvRow& row) {
        if (!std::exchange(names_checked, true)) {
            if (Status fits = check_names(payees.columns); !fits.ok()) {
                return fits;
            }
        }
        auto account = account_of(row.fields[1], row.fields[2], row.fields[3], false);
        if (!account.ok()) {
            return Status(account.error());
        }
        for (std::size_t i = 0; i < payees.columns.size(); ++i) {
            if (Status fits = check_text(payees.columns[i], row.fields[kKnown + i]); !fits.ok()) {
                return fits;
            }
            account->more.push_back(row.fields[kKnown + i]);
            if (std::string* field = address_field(account->address, payees.columns[i])) {
                *field = row.fields[kKnown + i];
            }
        }
        if (row.fields[0].empty()) {
            return Status(invalid("payee: expected a text that is not empty"));
        }
        if (!payees.by_reference.emplace(row.fields[0], std::move(account).value()).second) {
            return Status(invalid("payee: expected each once, found " + row.fields[0] + " again"));
        }
        return Status::success();
    });
    return read.ok() ? Result(std::move(payees)) : read.error();
}

Result<Debtors> read_debtors(const std::string& file) {
    Debtors debtors;
    constexpr std::size_t kAddressAt = 4;
    const CsvColumns columns{
        {"name", "iban"}, {"bic", "currency", "street", "building", "postcode", "town", "country"}};
    const Status read = read_rows(file, columns, [&](const CsvRow& row) {
        auto account = account_of(row.fields[0], row.fields[1], row.fields[2], true);
        if (!account.ok()) {
            return Status(account.error());
        }
        for (std::size_t i = kAddressAt; i < row.fields.size(); ++i) {
            const std::string& column = columns.optional[i - columns.required.size()];
            if (Status fits = check_text(column, row.fields[i]); !fits.ok()) {
                return fits;
            }
            *address_field(account->address, column) = row.fields[i];
        }
        const std::string& currency = row.fields[3];
        if (!currency.empty() && !Currency::parse(currency)) {
            return Status(invalid("currency: expected an ISO 4217 code"));
        }
        if (!debtors.emplace(currency, std::move(account).value()).second) {
            return Status(invalid("currency: expected one account for each, or one row without"));
        }
        return Status::success();
    });
    if (!read.ok()) {
        return read.error();
    }
    if (debtors.empty()) {
        return invalid(file + ":2: expected one row: the account that pays");
    }
    return debtors;
}

const BankAccount* debtor_in(const Debtors& debtors, std::string_view currency) {
    const BankAccount* const own = find_value(debtors, currency);
    return own != nullptr ? own : find_value(debtors, std::string_view());
}

}  // namespace sluice::cli
