#include "tool/bank/payment.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "core/commands/ids.hpp"
#include "core/values/lookup.hpp"
#include "program/cli/output.hpp"

namespace sluice::cli {
namespace {

constexpr std::string_view kFields[] = {"message_id", "payout_id", "creator_id", "payee",
                                        "name",       "iban",      "bic",        "currency",
                                        "amount",     "remittance"};

constexpr std::size_t kWiseRowsMax = 1000;
constexpr std::size_t kPaypalRowsMax = 5000;

/// Most characters of a reference, by currency, from Wise's help (docs/month.md).
constexpr std::array<std::pair<std::string_view, std::size_t>, 24> kWiseReferences{
    {{"AUD", 18}, {"BGN", 35}, {"CAD", 50}, {"CHF", 50}, {"CZK", 25}, {"DKK", 35},
     {"EUR", 35}, {"GBP", 18}, {"GEL", 35}, {"HKD", 50}, {"HUF", 35}, {"IDR", 35},
     {"INR", 16}, {"KRW", 35}, {"MYR", 35}, {"NOK", 35}, {"NZD", 12}, {"PHP", 35},
     {"PLN", 35}, {"RON", 30}, {"SEK", 12}, {"SGD", 25}, {"THB", 50}, {"USD", 10}}};

/// The columns of the payees' file come last, under their own names.
PaymentColumns all_columns(const PaymentMessage& message) {
    PaymentColumns all;
    for (const std::string_view field : kFields) {
        if (field != "remittance" || message.names_remittance) {
            all.columns.push_back({std::string(field), std::string(field), {}});
        }
    }
    for (const std::string& name : message.more) {
        all.columns.push_back({name, name, {}});
    }
    return all;
}

std::string value_of(const PaymentMessage& message, const Payment& payment,
                     const PaymentColumn& column) {
    for (std::size_t i = 0; i < message.more.size(); ++i) {
        if (message.more[i] == column.field) {
            return payment.to.more[i];
        }
    }
    if (!column.text.empty()) {
        return column.text;  // the payees' file lacks the column
    }
    const std::map<std::string_view, std::string> fields{
        {"message_id", message.message_id},
        {"payout_id", payment.payout_id},
        {"creator_id", payment.creator_id},
        {"payee", payment.payee},
        {"name", payment.to.name},
        {"iban", payment.to.iban},
        {"bic", payment.to.bic},
        {"currency", std::string(message.currency.code())},
        {"amount", payment.amount.to_string()},
        {"remittance", payment.remittance}};
    return fields.at(column.field);
}

std::string csv_file(const PaymentMessage& message, const PaymentColumns& wanted) {
    const PaymentColumns columns = wanted.columns.empty() ? all_columns(message) : wanted;
    std::string text;
    if (columns.has_header) {
        add_csv_line(text, mapped(columns.columns,
                                  [](const PaymentColumn& column) { return column.header; }));
    }
    for (const Payment& payment : message.payments) {
        add_csv_line(text, mapped(columns.columns, [&](const PaymentColumn& column) {
                         return value_of(message, payment, column);
                     }));
    }
    return text;
}

/// `Name=name`, `name`, `Kind='EMAIL'`
Result<PaymentColumn> parse_column(std::string_view word) {
    const std::size_t equals = word.find('=');
    const std::string header(word.substr(0, equals));
    const std::string value(equals == std::string_view::npos ? word : word.substr(equals + 1));
    if (header.empty() || value.empty()) {
        return invalid("expected wise, paypal, or HEADER=FIELD with a comma between, found '" +
                       std::string(word) + "'");
    }
    if (value.size() > 1 && value.front() == '\'' && value.back() == '\'') {
        return PaymentColumn{header, {}, value.substr(1, value.size() - 2)};
    }
    return PaymentColumn{header, value, {}};
}

std::string json_file(const PaymentMessage& message) {
    Json payments = Json::list(message.payments, [&message](const Payment& payment) {
        Json row{{"payout_id", payment.payout_id},
                 {"creator_id", payment.creator_id},
                 {"payee", payment.payee},
                 {"name", payment.to.name},
                 {"iban", text_or_null(payment.to.iban)},
                 {"bic", text_or_null(payment.to.bic)},
                 {"amount", payment.amount.to_string()}};
        if (message.names_remittance) {
            row["remittance"] = payment.remittance;
        }
        for (std::size_t i = 0; i < message.more.size(); ++i) {
            row[message.more[i]] = payment.to.more[i];
        }
        return row;
    });
    const Json file{{"message_id", message.message_id},
                    {"account_id", message.account_id},
                    {"created_at", message.created_at.to_string()},
                    {"currency", message.currency.code()},
                    {"payments", std::move(payments)}};
    return file.pretty() + "\n";
}

}  // namespace

/// The batch file of Wise for payments to an e-mail address, and that of PayPal Payouts, which has
/// no header. Both need a column `email` in the payees' file.
Result<PaymentColumns> parse_payment_columns(std::string_view text) {
    if (text == "wise") {
        return PaymentColumns{{{"name", "name", {}},
                               {"recipientEmail", "email", {}},
                               {"paymentReference", "remittance", {}},
                               {"receiverType", "receiverType", "PERSON"},
                               {"amountCurrency", {}, "target"},
                               {"amount", "amount", {}},
                               {"sourceCurrency", "currency", {}},
                               {"targetCurrency", "currency", {}},
                               {"type", {}, "EMAIL"}},
                              true,
                              kWiseRowsMax,
                              true};
    }
    if (text == "paypal") {
        return PaymentColumns{{{"recipient", "email", {}},
                               {"amount", "amount", {}},
                               {"currency", "currency", {}},
                               {"customer_id", "payout_id", {}},
                               {"note", "remittance", {}},
                               {"wallet", {}, "PayPal"}},
                              false,
                              kPaypalRowsMax,
                              false};
    }
    PaymentColumns parsed;
    while (!text.empty()) {
        const std::size_t comma = text.find(',');
        auto column = parse_column(text.substr(0, comma));
        if (!column.ok()) {
            return column.error();
        }
        parsed.columns.push_back(std::move(column).value());
        text = comma == std::string_view::npos ? "" : text.substr(comma + 1);
    }
    return parsed;
}

Status check_columns(const PaymentColumns& columns, const PaymentMessage& message) {
    for (const PaymentColumn& column : columns.columns) {
        if (!column.field.empty() && column.text.empty() &&
            std::ranges::count(kFields, column.field) == 0 &&
            std::ranges::count(message.more, column.field) == 0) {
            return invalid("column " + column.header + ": neither a field of " +
                           "the payment nor a column of the payees' file: " + column.field);
        }
    }
    const std::size_t most = columns.is_wise ? wise_reference_max(message.currency.code()) : 0;
    for (const Payment& payment : message.payments) {
        const std::size_t length = characters_of(payment.remittance).value_or(0);
        if (most != 0 && length > most) {
            return invalid("payout " + payment.payout_id + ": its reference has " +
                           std::to_string(length) + " characters, Wise passes on " +
                           std::to_string(most) + " in " + std::string(message.currency.code()) +
                           "; choose a shorter --remittance, such as '{short}'");
        }
    }
    return Status::success();
}

std::size_t wise_reference_max(std::string_view currency) {
    const auto* const found =
        find_item(kWiseReferences, currency, &std::pair<std::string_view, std::size_t>::first);
    return found == nullptr ? 0 : found->second;
}

std::string_view default_remittance(const PaymentColumns& columns, Currency currency) {
    const std::size_t most = columns.is_wise ? wise_reference_max(currency.code()) : 0;
    return most != 0 && most < kPayoutIdBytesMin ? "{short}" : "{payout}";
}

Result<std::string> remittance_text(std::string_view pattern, const Payment& payment,
                                    Timestamp until) {
    constexpr std::size_t kCharactersMax = 140;  // of a SEPA message
    constexpr std::size_t kMonthBytes = 7;
    const std::map<std::string_view, std::string> values{
        {"month", until.plus_seconds(-1).to_string().substr(0, kMonthBytes)},
        {"payout", payment.payout_id},
        {"short", short_payout_id(payment.payout_id)},
        {"creator", payment.creator_id}};
    std::string text;
    while (!pattern.empty()) {
        const std::size_t open = pattern.find('{');
        text += pattern.substr(0, open);
        if (open == std::string_view::npos) {
            break;
        }
        const std::size_t close = pattern.find('}', open);
        const std::string* const value =
            close == std::string_view::npos
                ? nullptr
                : find_value(values, pattern.substr(open + 1, close - open - 1));
        if (value == nullptr) {
            return invalid(
                "--remittance: expected {month}, {payout}, {short} or {creator} in "
                "braces");
        }
        text += *value;
        pattern.remove_prefix(close + 1);
    }
    const std::optional<std::size_t> characters = characters_of(text);
    if (!characters || *characters == 0 || *characters > kCharactersMax) {
        return invalid("--remittance: expected 1 to 140 characters of UTF-8");
    }
    return text;
}

std::string payment_file(const PaymentMessage& message, PaymentForm form,
                         const PaymentColumns& columns) {
    switch (form) {
        case PaymentForm::kCsv:
            return csv_file(message, columns);
        case PaymentForm::kJson:
            return json_file(message);
        case PaymentForm::kPain:
            break;
    }
    return pain_file(message);
}

}  // namespace sluice::cli
