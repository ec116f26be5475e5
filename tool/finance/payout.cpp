// sluice payout preview|close|sent|settle|failed|returned|void|list|show
#include <cstdio>

#include "core/approvals/subject.hpp"
#include "core/ledger/payout_rows.hpp"
#include "core/payouts/plan.hpp"
#include "core/rules/account.hpp"
#include "core/values/assert.hpp"
#include "core/values/lookup.hpp"
#include "os/clock/clock.hpp"
#include "program/cli/cli_values.hpp"
#include "program/cli/output.hpp"
#include "program/commands.hpp"
#include "tool/reports/payouts.hpp"
#include "tool/reports/report_options.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/access/registry_access.hpp"
#include "worker/access/submit.hpp"

namespace sluice::cli {
namespace {

/// Options of `preview` and `close`.
struct ClosePayoutCommand {
    PayoutClose close;
    SubmitOptions submit;
    Format format = Format::kTable;
};

struct ShowPayoutCommand : AccountListOptions {
    std::string payout_id;
};

/// Warns about unknown creator ids, because a misspelt filter pays the wrong creators.
void warn_unknown_ids(const Frame& frame, LedgerReader& ledger, const ClosePayoutCommand& command) {
    for (const auto* named : {&command.close.creators, &command.close.excluded}) {
        for (const CreatorId& creator : *named) {
            warn_unknown_names(frame, ledger, {command.submit.account, {}, creator}, "");
        }
    }
}

Status check_past(Timestamp until, Timestamp at) {
    return until > at ? Status(invalid("--until " + until.to_string() +
                                       " lies in the future: now it is " + at.to_string()))
                      : Status::success();
}

Status run_preview(const Frame& frame, const ClosePayoutCommand& command) {
    const AccountId& account_id = *command.submit.account;
    const auto account = account_number(frame, account_id);
    if (!account.ok()) {
        return account.error();
    }
    const Timestamp at = now();
    if (Status past = check_past(command.close.until, at); !past) {
        return past;
    }
    tell_standstill(frame);
    return with_snapshot(
        frame, command.submit.ledger_url, ReadFrom::kPrimary, [&](LedgerReader& ledger) -> Status {
            warn_unknown_ids(frame, ledger, command);
            const AccountSettings settings = account_settings(ledger, *account);
            const PlanRequest request{*account, account_id, command.close, at, {}};
            PayoutPlan plan(request, settings, ledger);
            if (Status possible = plan.add_up(); !possible.ok()) {
                return possible;
            }
            PayoutRunListing listing(command.format, ledger, *account, account_id);
            plan.visit(
                [&](const PlannedPayout& planned) { listing.add(planned, command.close.until); });
            if (plan.payouts() == 0 && command.format == Format::kTable) {
                std::printf("nothing to pay until %s\n", command.close.until.to_string().c_str());
            }
            listing.finish(plan.skipped(), to_hex(plan.digest()));
            if (command.format == Format::kTable) {
                print_left_for_later(ledger, *account, command.close);
            }
            return Status::success();
        });
}

/// Prints a payout run from the ledger, so that a repeated key prints the first result.
Status print_payout_run(const Frame& frame, const ClosePayoutCommand& command,
                        const std::string& run) {
    return with_snapshot(
        frame, command.submit.ledger_url, ReadFrom::kPrimary, [&](LedgerReader& ledger) -> Status {
            PayoutRun row{run};
            if (!ledger.load(row)) {
                return not_found("there is no payout run " + run);
            }
            warn_unknown_ids(frame, ledger, command);
            PayoutRunListing listing(command.format, ledger, row.account, *command.submit.account);
            for (const Payout& payout : payouts_of_run(ledger, run)) {
                listing.add(payout);
            }
            listing.finish(skipped_of(ledger, run), to_hex(row.digest));
            if (command.format == Format::kTable) {
                std::printf("payout run %s\n", run.c_str());
            }
            return Status::success();
        });
}

Status run_close_payout(const Frame& frame, const ClosePayoutCommand& command) {
    if (Status past = check_past(command.close.until, now()); !past) {
        return past;
    }
    const auto result = submit_quietly(frame, command.close, command.submit);
    if (!result.ok()) {
        return result.error();
    }
    Status printed = print_payout_run(frame, command, result->command_id);
    return printed.ok() ? printed
                        : Error{printed.error().code,
                                "payout run " + result->command_id +
                                    " is closed, but could not be shown (`sluice payout list`): " +
                                    printed.error().message};
}

Status run_show_payout(const Frame& frame, const ShowPayoutCommand& command) {
    return list_account_rows(
        frame, command, lists::payout_item_list().columns(),
        [&](LedgerReader& ledger, AccountNumber account, Listing& listing) -> Status {
            Payout payout{command.payout_id};
            if (!ledger.load(payout) || payout.account != account) {
                return not_found("account " + command.account.str() + " has no payout " +
                                 command.payout_id);
            }
            lists::write_payout_items(ledger, payout, listing);
            return Status::success();
        });
}

/// Adds the options of `preview` and `close`.
void add_close_options(Subcommand app, ClosePayoutCommand& command) {
    add_account(app, command.submit);
    add_value(app, "--until", "T", command.close.until, parse_time,
              "Cut-off: pay commissions cleared at this time (RFC 3339)")
        .required();
    add_values(app, "--program", "P", command.close.programs, parse_admin_id,
               "Only this program; may be repeated");
    add_values(app, "--creator", "C", command.close.creators, parse_admin_id,
               "Only this creator; may be repeated");
    add_values(app, "--exclude", "C", command.close.excluded, parse_admin_id,
               "Exclude this creator; may be repeated");
    add_flag(app, "--ignore-minimum", command.close.ignore_minimum,
             "Also pay sums below the policy's min_payout");
    add_format(app, command.format);
}

void declare_move(Subcommand group, PayoutVerb verb, const std::string& help) {
    auto [app, command] =
        add_command(group, std::string(to_string(verb)), help, run_written<PayoutMove>);
    command.command.verb = verb;
    add_texts(app, "ID", "", command.command.ids,
              "Payouts, or payout runs for all of their payouts")
        .required();
    add_account(app, command.submit);
    if (verb != PayoutVerb::kRepoint) {
        add_value(app, "--bank-ref", "R", command.command.bank_ref, parse_typed,
                  "Reference of the bank");
        add_value(app, "--paid-at", "T", command.command.paid_at, parse_time,
                  "Time when the bank paid (RFC 3339)");
    }
    add_command_options(app, command.submit, true);
}

void declare_payout_listing(Subcommand group) {
    const Report* const payouts = find_item(lists::reports(), "payouts", &Report::name);
    SLUICE_ASSERT(payouts != nullptr);
    declare_report_command(group, *payouts, "list");

    auto [show, shown] = add_command(group, "show", "Show the items of a payout", run_show_payout);
    add_id(show, "ID", "ID", shown.payout_id, "Payout").required();
    add_id(show, "--account", "A", shown.account, "Account of the payout").required();
    add_list_options(show, shown.list);
}

}  // namespace

void declare_payout(Subcommand app) {
    const Subcommand group = app.add_group("payout", "Close, send and settle payouts");
    auto [preview, previewed] = add_command(
        group, "preview", "Preview the payouts of a close; nothing is changed", run_preview);
    add_close_options(preview, previewed);
    add_ledger(preview, previewed.submit.ledger_url);

    auto [close, closed] =
        add_command(group, "close", "Close payable amounts into payouts, by creator and currency",
                    run_close_payout);
    add_close_options(close, closed);
    add_id(close, "--expect", "DIGEST", closed.close.expect,
           "Refuse unless the result equals the preview with this digest");
    add_command_options(close, closed.submit, false);

    declare_move(group, PayoutVerb::kSent,
                 "Record that the payment instruction was sent to the bank");
    declare_move(group, PayoutVerb::kSettle, "Record a settled payment");
    declare_move(group, PayoutVerb::kFailed,
                 "Record a failed payment; its items become payable again");
    declare_move(group, PayoutVerb::kReturned,
                 "Record a returned payment; its items become payable again");
    declare_move(group, PayoutVerb::kRepoint,
                 "Move payouts to the payee that the creator has now; approve them again");
    declare_move(group, PayoutVerb::kVoid,
                 "Void payouts that were never sent; their items become payable again");
    declare_export(group);
    declare_payout_listing(group);
}

}  // namespace sluice::cli
