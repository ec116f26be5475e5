// sluice write-off
#include <optional>
#include <vector>

#include "core/rules/account.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/access/submit.hpp"
#include "worker/cli/cli_values.hpp"
#include "worker/commands.hpp"

namespace sluice::cli {
namespace {

struct WriteOffCommand {
    WriteOff write_off;
    std::optional<Money> amount;
    std::optional<Currency> currency;
    SubmitOptions submit;
};

Result<Money> parse_positive(std::string_view text) {
    const std::optional<Money> money = parse_money(text);
    return parsed(money && money->amount.is_negative() ? std::nullopt : money,
                  "expected an amount above 0 with its currency, such as \"12.00 USD\"");
}

/// Returns the whole balance below 0 of the creator in the program.
Result<Money> negative_balance(const Frame& frame, const WriteOffCommand& command) {
    std::vector<Money> negative;
    Status read = with_account(
        frame, *command.submit.account, command.submit.ledger_url, ReadFrom::kPrimary,
        [&](LedgerReader& ledger, AccountNumber account) {
            const CreatorId creator = first_id(ledger, account, command.write_off.creator);
            ledger.scan_balances([&](const Balance& row) {
                if (row.key.account == account && row.key.creator == creator &&
                    row.key.program == command.write_off.program && row.owed.is_negative() &&
                    (!command.currency || row.key.currency == *command.currency)) {
                    negative.push_back({row.key.currency, -row.owed});
                }
                return true;
            });
        });
    if (!read.ok()) {
        return read.error();
    }
    if (negative.size() > 1) {
        return Error{ErrorCode::kInvalid, "creator " + command.write_off.creator.str() +
                                              " has balances below 0 in " +
                                              std::string(negative[0].currency.code()) + " and " +
                                              std::string(negative[1].currency.code()) +
                                              ": name one with --currency or --amount"};
    }
    if (negative.empty()) {
        return Error{ErrorCode::kConflict,
                     "creator " + command.write_off.creator.str() +
                         " has no balance below 0 in program " + command.write_off.program.str() +
                         (command.currency ? " and " + std::string(command.currency->code())
                                           : std::string())};
    }
    return negative.front();
}

Status run_write_off(const Frame& frame, const WriteOffCommand& command) {
    WriteOff write_off = command.write_off;
    if (command.amount) {
        write_off.amount = *command.amount;
    } else {
        const auto whole = negative_balance(frame, command);
        if (!whole.ok()) {
            return whole.error();
        }
        write_off.amount = *whole;
    }
    return submit(frame, write_off, command.submit);
}

}  // namespace

void declare_write_off(Subcommand app) {
    auto [off, command] = add_command(
        app, "write-off", "Give up what a creator owes: a balance below 0", run_write_off);
    add_account(off, command.submit);
    add_id(off, "--creator", "C", command.write_off.creator, "Creator").required();
    add_id(off, "--program", "P", command.write_off.program, "Program").required();
    const Option amount =
        add_value(off, "--amount", "M", command.amount, parse_positive,
                  "Amount above 0 with its currency: \"12.00 USD\" (default: the whole balance)");
    const Option currency = add_value(off, "--currency", "CUR", command.currency, parse_currency,
                                      "Currency of the balance, if several are below 0");
    amount.excludes(currency);
    add_command_options(off, command.submit, true);
}

}  // namespace sluice::cli
