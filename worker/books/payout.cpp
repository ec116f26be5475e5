// sluice payout preview|close|sent|settle|failed|returned|void|list|show
#include <cstdio>

#include "core/payouts/payout_names.hpp"
#include "core/payouts/payout_plan.hpp"
#include "core/rules/creator_names.hpp"
#include "os/clock/clock.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/access/submit.hpp"
#include "worker/books/payout_export.hpp"
#include "worker/books/report_options.hpp"
#include "worker/cli/cli_values.hpp"
#include "worker/cli/output.hpp"
#include "worker/cli/subcommands.hpp"
#include "worker/reports/payouts.hpp"

namespace sluice::cli {
namespace {

/// What `preview` and `close` take.
struct CloseCommand {
    PayoutClose close;
    SubmitOptions submit;
    Format format = Format::kTable;
};

struct MoveCommand {
    PayoutMove move;
    SubmitOptions submit;
};

struct ShowCommand {
    std::string payout_id;
    AccountId account;
    std::string ledger;
    Format format = Format::kTable;
};

/// A misspelt name pays whom it should leave out, or nobody, and looks as if it did.
void warn_of_strangers(const Frame& frame, LedgerReader& ledger, const CloseCommand& command) {
    for (const auto* named : {&command.close.creators, &command.close.excluded}) {
        for (const CreatorId& creator : *named) {
            ReportFilter filter;
            filter.account = command.submit.account;
            filter.creator = creator;
            if (const Status known = check_names(frame, ledger, filter); !known.ok()) {
                std::fprintf(stderr, "sluice: warning: %s\n",
                             printable(known.error().message).c_str());
            }
        }
    }
}

Status run_preview(const Frame& frame, const CloseCommand& command) {
    const AccountId& account_id = *command.submit.account;
    const auto account = account_number(frame, account_id);
    if (!account.ok()) {
        return account.error();
    }
    const Timestamp at = now();
    if (command.close.until > at) {
        return Error{ErrorCode::kInvalid, "--until lies in the future"};
    }
    return with_snapshot(
        frame, command.submit.ledger_url,
        [&](LedgerReader& ledger) -> Status {
            warn_of_strangers(frame, ledger, command);
            const AccountSettings settings = account_settings(ledger, *account);
            const PlanRequest request{*account, account_id, command.close, at, {}};
            PayoutPlan plan(request, settings, ledger);
            if (Status possible = plan.add_up(); !possible.ok()) {
                return possible;
            }
            RunListing listing(command.format, ledger, *account, account_id);
            plan.visit([&](const PlannedPayout& planned) {
                listing.add(planned, command.close.until, settings);
            });
            listing.finish(plan.skipped(), to_hex(plan.digest()));
            return Status::success();
        },
        ReadFrom::kPrimary);
}

/// What a close made, from the ledger: also of a close that was asked for again.
Status print_run(const Frame& frame, const CloseCommand& command, const std::string& run) {
    return with_snapshot(
        frame, command.submit.ledger_url,
        [&](LedgerReader& ledger) -> Status {
            PayoutRun row;
            row.run = run;
            if (!ledger.load(row)) {
                return Error{ErrorCode::kNotFound, "there is no run " + run};
            }
            warn_of_strangers(frame, ledger, command);
            RunListing listing(command.format, ledger, row.account, *command.submit.account);
            std::vector<Payout> payouts;
            scan_run(ledger, run, [&payouts](const Payout& payout) {
                payouts.push_back(payout);
                return true;
            });
            for (const Payout& payout : payouts) {
                listing.add(payout);
            }
            listing.finish(skipped_of(ledger, run), to_hex(row.digest));
            return Status::success();
        },
        ReadFrom::kPrimary);
}

Status run_close(const Frame& frame, const CloseCommand& command) {
    if (command.close.until > now()) {
        return Error{ErrorCode::kInvalid, "--until lies in the future"};
    }
    const auto result = submit_quietly(frame, command.close, command.submit);
    if (!result.ok()) {
        return result.error();
    }
    Status printed = print_run(frame, command, result->command_id);
    return printed.ok() ? printed
                        : Error{printed.error().code,
                                "run " + result->command_id +
                                    " is closed, but could not be shown (`sluice payout list`): " +
                                    printed.error().message};
}

Status run_move(const Frame& frame, const MoveCommand& command) {
    return submit(frame, command.move, command.submit);
}

Status run_show(const Frame& frame, const ShowCommand& command) {
    const auto account = account_number(frame, command.account);
    if (!account.ok()) {
        return account.error();
    }
    return with_snapshot(frame, command.ledger, [&](LedgerReader& ledger) -> Status {
        Payout payout;
        payout.payout_id = command.payout_id;
        if (!ledger.load(payout) || payout.account != *account) {
            return Error{ErrorCode::kNotFound, "account " + command.account.str() +
                                                   " has no payout " + command.payout_id};
        }
        Listing listing(command.format, payout_item_columns());
        write_payout_items(ledger, payout, listing);
        listing.finish();
        return Status::success();
    });
}

template <class Id>
void add_ids(Subcommand app, const std::string& name, const std::string& type,
             std::vector<Id>& target, const std::string& help) {
    app.add_repeated(
        name, type,
        [&target](const std::string& word) -> Status {
            auto id = parse_admin_id(word);
            if (!id.ok()) {
                return id.error();
            }
            target.emplace_back(std::move(id).value());
            return Status::success();
        },
        help);
}

void add_account(Subcommand app, SubmitOptions& target) {
    add_id(app, "--account", "A", target.account.emplace(), "The account").required();
}

/// Adds the options of `preview` and `close`.
void add_close_options(Subcommand app, CloseCommand& command) {
    add_account(app, command.submit);
    add_value(app, "--until", "T", command.close.until, parse_time,
              "What has matured at this time and was due then (RFC 3339)")
        .required();
    add_ids(app, "--program", "P", command.close.programs, "Only this program (may be repeated)");
    add_ids(app, "--creator", "C", command.close.creators, "Only this creator (may be repeated)");
    add_ids(app, "--exclude", "C", command.close.excluded, "Not this creator (may be repeated)");
    add_flag(app, "--ignore-minimum", command.close.ignore_minimum,
             "Pay sums below the policy's min_payout, too");
    add_format(app, command.format);
}

void declare_move(Subcommand group, PayoutVerb verb, const std::string& help) {
    auto [app, command] = add_command(group, std::string(to_string(verb)), help, run_move);
    command.move.verb = verb;
    add_texts(app, "ID", "", command.move.ids, "Payouts, or runs for all their payouts").required();
    add_account(app, command.submit);
    add_text(app, "--bank-ref", "R", command.move.bank_ref, "The bank's reference");
    add_value(app, "--paid-at", "T", command.move.paid_at, parse_time, "When the bank paid");
    add_command_options(app, command.submit, true);
}

const Report& payout_report() {
    for (const Report& report : reports()) {
        if (report.name == "payouts") {
            return report;
        }
    }
    std::abort();  // reports() has it
}

void declare_listing(Subcommand group) {
    declare_report_command(group, payout_report(), "list");

    auto [show, shown] = add_command(group, "show", "Show the items of a payout", run_show);
    add_value(show, "ID", "ID", shown.payout_id, parse_admin_id, "The payout").required();
    add_id(show, "--account", "A", shown.account, "Its account").required();
    add_ledger(show, shown.ledger);
    add_format(show, shown.format);
}

}  // namespace

void declare_payout(Subcommand app) {
    const Subcommand group =
        app.add_group("payout", "Payouts: from what is due to the bank and back");
    auto [preview, previewed] =
        add_command(group, "preview", "What a close would make; nothing is changed", run_preview);
    add_close_options(preview, previewed);
    add_ledger(preview, previewed.submit.ledger_url);

    auto [close, closed] =
        add_command(group, "close", "Close what is payable, per creator and currency", run_close);
    add_close_options(close, closed);
    add_value(close, "--expect", "DIGEST", closed.close.expect, parse_admin_id,
              "Refuse if the result would differ from this preview");
    add_command_options(close, closed.submit, false);

    declare_move(group, PayoutVerb::kSent, "The bank was told to pay");
    declare_move(group, PayoutVerb::kSettle, "The bank has paid");
    declare_move(group, PayoutVerb::kFailed, "The bank could not pay: it is due again");
    declare_move(group, PayoutVerb::kReturned, "The money came back: it is due again");
    declare_move(group, PayoutVerb::kVoid, "Never sent: it is due again");
    declare_export(group);
    declare_listing(group);
}

}  // namespace sluice::cli
