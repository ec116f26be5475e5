// sluice adjust, credit, reverse, approve, withdraw, approvals
#include "worker/access/ledger_access.hpp"
#include "worker/access/submit.hpp"
#include "worker/books/id_account.hpp"
#include "worker/books/written.hpp"
#include "worker/cli/cli_values.hpp"
#include "worker/cli/output.hpp"
#include "worker/cli/subcommands.hpp"
#include "worker/reports/report.hpp"

namespace sluice::cli {
namespace {

/// Of commands that name an id.
template <class What>
Status run_for_id(const Frame& frame, const Written<What>& written) {
    const auto options = with_account_of(frame, written.command.id, written.submit);
    return options.ok() ? submit(frame, written.command, *options) : Status(options.error());
}

struct ApprovalsCommand {
    AccountId account;
    std::string ledger;
    Format format = Format::kTable;
};

/// `adjust`, `program apply`: what a person typed.
std::string words_of(Topic topic) {
    std::string words;
    for (const char c : to_string(topic)) {
        words += c == '_' ? ' ' : static_cast<char>(c - 'A' + 'a');
    }
    return words;
}

Json row_of(const WaitingCommand& row, const AccountId& account) {
    return {{"id", row.command_id},
            {"command", words_of(row.topic)},
            {"account_id", account.str()},
            {"amount", row.currency ? Json(row.amount.to_string()) : Json()},
            {"currency", row.currency ? Json(row.currency->code()) : Json()},
            {"actor", row.actor},
            {"reason", text_or_null(row.reason)},
            {"received_at", row.received_at.to_string()}};
}

Json row_of(const Payout& payout, const AccountId& account) {
    return {{"id", payout.payout_id},
            {"command", "payout close"},
            {"account_id", account.str()},
            {"amount", payout.amount.to_string()},
            {"currency", payout.currency.code()},
            {"actor", payout.closed_by},
            {"reason", nullptr},
            {"received_at", payout.closed_at.to_string()}};
}

/// Commands that wait, then payouts that are closed and not approved.
Status run_approvals(const Frame& frame, const ApprovalsCommand& command) {
    const auto account = account_number(frame, command.account);
    if (!account.ok()) {
        return account.error();
    }
    return with_snapshot(frame, command.ledger, [&](LedgerReader& ledger) {
        Listing listing(command.format, {{"id"},
                                         {"command"},
                                         {"account_id", Align::kLeft, false},
                                         {"amount", Align::kRight},
                                         {"currency"},
                                         {"actor"},
                                         {"reason"},
                                         {"received_at"}});
        WaitingCommand first;
        first.account = *account;
        ledger.scan(first, {1, 1}, [&](const WaitingCommand& row) {
            if (row.state == ApprovalState::kWaiting) {
                listing.add(row_of(row, command.account));
            }
            return true;
        });
        ledger.scan_payouts([&](const Payout& payout) {
            if (payout.account == *account && payout.state == PayoutState::kClosed) {
                listing.add(row_of(payout, command.account));
            }
            return true;
        });
        listing.finish();
        return Status::success();
    });
}

Result<Money> parse_credit(std::string_view text) {
    const std::optional<Money> money = parse_money(text);
    if (!money) {
        return Error{ErrorCode::kInvalid,
                     "expected an amount with its currency, such as \"12.00 USD\""};
    }
    return *money;
}

void add_account(Subcommand app, SubmitOptions& target) {
    add_id(app, "--account", "A", target.account.emplace(), "The account").required();
}

void declare_adjust(Subcommand app) {
    auto [adjust, adjusted] = add_command(
        app, "adjust", "Enter a correction by hand into the journal", run_written<Adjust>);
    add_value(adjust, "--order", "O", adjusted.command.order, parse_order_id, "The order")
        .required();
    add_id(adjust, "--shop", "S", adjusted.submit.shop.emplace(), "Its shop").required();
    add_value(adjust, "--amount", "M", adjusted.command.amount, parse_amount,
              "Signed, in the order's currency")
        .required();
    add_command_options(adjust, adjusted.submit, true);
}

void declare_credit(Subcommand app) {
    auto [credit, credited] = add_command(
        app, "credit", "Owe a creator an amount for which there is no order", run_written<Credit>);
    add_account(credit, credited.submit);
    add_id(credit, "--creator", "C", credited.command.creator, "The creator").required();
    add_id(credit, "--program", "P", credited.command.program, "The program").required();
    add_value(credit, "--amount", "M", credited.command.amount, parse_credit,
              "Signed, with its currency: \"12.00 USD\"")
        .required();
    const Option shop =
        add_id(credit, "--shop", "S", credited.submit.shop, "Shop of the order that is missing");
    const Option order =
        add_value(credit, "--order", "O", credited.command.order, parse_order_id,
                  "The order that is missing; if it comes after all it is blocked");
    shop.needs(order);
    order.needs(shop);
    add_value(credit, "--sale-at", "T", credited.command.sale_at, parse_time,
              "When the hold begins (RFC 3339); left out: now");
    add_command_options(credit, credited.submit, true);
}

void declare_reverse(Subcommand app) {
    auto [reverse, reversed] =
        add_command(app, "reverse", "Undo an adjust or a credit", run_for_id<Reverse>);
    add_value(reverse, "ID", "ID", reversed.command.id, parse_admin_id, "Its command id")
        .required();
    add_id_account(reverse, reversed.submit);
    add_command_options(reverse, reversed.submit, true);
}

}  // namespace

void declare_money(Subcommand app) {
    declare_adjust(app);
    declare_credit(app);
    declare_reverse(app);

    auto [approve, approved] = add_command(
        app, "approve", "Agree to a payout, a run, or a command that waits", run_for_id<Approve>);
    add_value(approve, "ID", "ID", approved.command.id, parse_admin_id, "Its id").required();
    add_id_account(approve, approved.submit);
    add_command_options(approve, approved.submit, false);

    auto [withdraw, withdrawn] =
        add_command(app, "withdraw", "End a command that waits", run_for_id<Withdraw>);
    add_value(withdraw, "ID", "ID", withdrawn.command.id, parse_admin_id, "Its id").required();
    add_id_account(withdraw, withdrawn.submit);
    add_command_options(withdraw, withdrawn.submit, true);

    auto [approvals, listed] =
        add_command(app, "approvals", "What waits for an approval", run_approvals);
    add_id(approvals, "--account", "A", listed.account, "The account").required();
    add_ledger(approvals, listed.ledger);
    add_format(approvals, listed.format);
}

}  // namespace sluice::cli
