// sluice write-off
#include "program/cli/cli_values.hpp"
#include "program/commands.hpp"
#include "worker/access/submit.hpp"

namespace sluice::cli {
namespace {

Result<Money> parse_positive(std::string_view text) {
    const std::optional<Money> money = parse_money(text);
    return parsed(money && money->amount.is_negative() ? std::nullopt : money,
                  "expected an amount above 0 with its currency, such as \"12.00 USD\"");
}

}  // namespace

void declare_write_off(Subcommand app) {
    auto [off, written] = add_command(
        app, "write-off", "Give up what a creator owes: a balance below 0", run_tried<WriteOff>);
    add_account(off, written.submit);
    add_id(off, "--creator", "C", written.command.creator, "Creator").required();
    add_id(off, "--program", "P", written.command.program, "Program").required();
    const Option amount =
        add_value(off, "--amount", "M", written.command.amount, parse_positive,
                  "Amount above 0 with its currency: \"12.00 USD\" (default: the whole balance)");
    const Option currency =
        add_value(off, "--currency", "CUR", written.command.currency, parse_currency,
                  "Currency of the balance, if several are below 0");
    amount.excludes(currency);
    add_tried_options(off, written);
}

}  // namespace sluice::cli
