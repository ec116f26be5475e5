// sluice adjust, credit, reverse, approve, withdraw, approvals
#include "worker/access/ledger_access.hpp"
#include "worker/access/registry_access.hpp"
#include "worker/access/submit.hpp"
#include "worker/cli/cli_values.hpp"
#include "worker/cli/output.hpp"
#include "worker/finance/finance.hpp"
#include "worker/reports/report.hpp"

namespace sluice::cli {
namespace {

/// Submits a command that names an id, in the account of that id.
template <class What>
Status run_for_id(const Frame& frame, const Written<What>& written) {
    const auto options = with_account_of(frame, written.command.id, written.submit);
    return options.ok() ? submit(frame, written.command, *options) : Status(options.error());
}

struct ApprovalsCommand {
    AccountId account;
    ListOptions list;
};

/// Returns the command's words as typed, `program apply`.
std::string words_of(Topic topic) {
    std::string words;
    for (const char c : to_string(topic)) {
        words += c == '_' ? ' ' : static_cast<char>(c - 'A' + 'a');
    }
    return words;
}

Row row_of(const PendingApproval& row, const AccountId& account) {
    return {row.command_id,
            words_of(row.topic),
            account.str(),
            row.currency ? Json(row.amount.to_string()) : Json(),
            row.currency ? Json(row.currency->code()) : Json(),
            row.actor,
            text_or_null(row.reason),
            row.received_at.to_string()};
}

Row row_of(const Payout& payout, const AccountId& account) {
    return {payout.payout_id,       "payout close",   account.str(), payout.amount.to_string(),
            payout.currency.code(), payout.closed_by, nullptr,       payout.closed_at.to_string()};
}

/// Lists commands that wait, then payouts that are closed and not approved.
Status run_approvals(const Frame& frame, const ApprovalsCommand& command) {
    const auto account = account_number(frame, command.account);
    if (!account.ok()) {
        return account.error();
    }
    return list_rows(
        frame, command.list,
        {{"id"},
         {"command"},
         {"account_id", Align::kLeft, false},
         {"amount", Align::kRight},
         {"currency"},
         {"actor"},
         {"reason"},
         {"received_at"}},
        [&](LedgerReader& ledger, Listing& listing) {
            PendingApproval first;
            first.account = *account;
            ledger.scan(first, {1, 1}, [&](const PendingApproval& row) {
                if (row.state == ApprovalState::kPending) {
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
    add_id(app, "--account", "A", target.account.emplace(), "Account").required();
}

void declare_adjust(Subcommand app) {
    auto [adjust, adjusted] = add_command(
        app, "adjust", "Post a manual correction of an order's commission", run_written<Adjust>);
    add_value(adjust, "--order", "O", adjusted.command.order, parse_order_id, "Order").required();
    add_id(adjust, "--shop", "S", adjusted.submit.shop.emplace(), "Shop of the order").required();
    add_value(adjust, "--amount", "M", adjusted.command.amount, parse_amount,
              "Signed amount in the order's currency, such as -12.50")
        .required();
    add_command_options(adjust, adjusted.submit, true);
}

void declare_credit(Subcommand app) {
    auto [credit, credited] = add_command(
        app, "credit", "Credit a creator with an amount without an order", run_written<Credit>);
    add_account(credit, credited.submit);
    add_id(credit, "--creator", "C", credited.command.creator, "Creator").required();
    add_id(credit, "--program", "P", credited.command.program, "Program").required();
    add_value(credit, "--amount", "M", credited.command.amount, parse_credit,
              "Signed amount with its currency: \"12.00 USD\"")
        .required();
    const Option shop =
        add_id(credit, "--shop", "S", credited.submit.shop, "Shop of the missing order");
    const Option order = add_value(credit, "--order", "O", credited.command.order, parse_order_id,
                                   "Missing order; if it arrives later, it is blocked");
    shop.needs(order);
    order.needs(shop);
    add_value(credit, "--sale-at", "T", credited.command.sale_at, parse_time,
              "Time when the clearing period begins (RFC 3339; default: now)");
    add_command_options(credit, credited.submit, true);
}

void declare_reverse(Subcommand app) {
    auto [reverse, reversed] =
        add_command(app, "reverse", "Reverse an adjust or a credit", run_for_id<Reverse>);
    add_value(reverse, "ID", "ID", reversed.command.id, parse_admin_id,
              "Command id of the adjust or credit")
        .required();
    add_id_account(reverse, reversed.submit);
    add_command_options(reverse, reversed.submit, true);
}

}  // namespace

void declare_money(Subcommand app) {
    declare_adjust(app);
    declare_credit(app);
    declare_reverse(app);

    auto [approve, approved] =
        add_command(app, "approve", "Approve a payout, a payout run, or a pending command",
                    run_for_id<Approve>);
    add_value(approve, "ID", "ID", approved.command.id, parse_admin_id,
              "Id, as `approvals` shows it")
        .required();
    add_id_account(approve, approved.submit);
    add_command_options(approve, approved.submit, false);

    auto [withdraw, withdrawn] =
        add_command(app, "withdraw", "Withdraw a pending command", run_for_id<Withdraw>);
    add_value(withdraw, "ID", "ID", withdrawn.command.id, parse_admin_id,
              "Id, as `approvals` shows it")
        .required();
    add_id_account(withdraw, withdrawn.submit);
    add_command_options(withdraw, withdrawn.submit, true);

    auto [approvals, listed] = add_command(
        app, "approvals", "List commands and payouts that await approval", run_approvals);
    add_id(approvals, "--account", "A", listed.account, "Account").required();
    add_list_options(approvals, listed.list);
}

}  // namespace sluice::cli
