// sluice report orders|journal|balances|payouts|anomalies|products|clicks|statement|statements|
// trial-balance|payees|approvals|changes
#include <cstdio>

#include "core/lists/plain_lists.hpp"
#include "core/rules/account.hpp"
#include "program/cli/cli_values.hpp"
#include "program/commands.hpp"
#include "program/system/named_file.hpp"
#include "tool/reports/report_options.hpp"
#include "tool/reports/statements.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/access/registry_access.hpp"

namespace sluice::cli {
namespace {

struct StatementCommand : AccountListOptions {
    CreatorId creator;
    lists::Month month;
};

Status run_statement(const Frame& frame, const StatementCommand& command) {
    tell_standstill(frame);
    return with_account(
        frame, command.account, command.list.ledger, ReadFrom::kAnyServer,
        [&](LedgerReader& ledger, AccountNumber account) {
            Status known = check_names(frame, ledger, {command.account, {}, command.creator});
            if (known.ok()) {
                write_statement(ledger, {account, command.account, command.creator, command.month},
                                command.list.format);
            }
            return known;
        });
}

/// Options of the reports on all creators of an account.
struct MonthCommand : AccountListOptions {
    lists::Month month;
    std::string target;  ///< Folder of the files.
};

Status run_statements(const Frame& frame, const MonthCommand& command) {
    const auto account = account_number(frame, command.account);
    const auto folder = account.ok() ? open_folder(command.target) : account.error();
    if (!folder.ok()) {
        return folder.error();
    }
    tell_standstill(frame);
    const auto written = with_snapshot(frame, command.list.ledger, [&](LedgerReader& ledger) {
        return write_statements(ledger, {*account, command.account, command.month},
                                command.list.format, folder->get());
    });
    if (!written.ok()) {
        return written.error();
    }
    std::printf("%zu statement%s of account %s, %s, written to %s\n", *written,
                *written == 1 ? "" : "s", command.account.str().c_str(), command.month.name.c_str(),
                printable(command.target).c_str());
    return Status::success();
}

Status run_trial_balance(const Frame& frame, const MonthCommand& command) {
    tell_standstill(frame);
    return with_account(frame, command.account, command.list.ledger, ReadFrom::kAnyServer,
                        [&](LedgerReader& ledger, AccountNumber account) {
                            write_trial_balance(ledger, {account, command.account, command.month},
                                                command.list.format);
                        });
}

void add_month(Subcommand app, MonthCommand& command) {
    add_id(app, "--account", "A", command.account, "Account").required();
    add_value(app, "--month", "YYYY-MM", command.month, parse_month, "Month in UTC").required();
}

struct PlainCommand {
    const lists::PlainList* list = nullptr;
    ReportFilter filter;
    bool history = false;
    ListOptions output;
};

/// An account that the ledger does not know yet has no rows.
Status run_plain(const Frame& frame, const PlainCommand& command) {
    const lists::PlainList& list = command.history ? *command.list->history : *command.list;
    return list_rows(
        frame, command.output, list.columns(),
        [&](LedgerReader& ledger, Listing& listing) -> Status {
            if (Status known = check_names(frame, ledger, command.filter); !known.ok()) {
                return known;
            }
            for (const auto& [number, id] : account_ids(ledger)) {
                if (id != *command.filter.account) {
                    continue;
                }
                lists::PlainListing of{number, id};
                if (command.filter.creator) {
                    of.with.emplace_back("creator",
                                         first_id(ledger, number, *command.filter.creator).str());
                }
                lists::write_plain(ledger, list, std::move(of), listing);
            }
            return Status::success();
        });
}

struct ApprovalsCommand {
    ReportFilter filter;
    bool verifies = false;
    ListOptions list;
};

Status run_approvals(const Frame& frame, const ApprovalsCommand& command) {
    std::uint64_t faults = 0;
    const Status listed = list_rows(
        frame, command.list, lists::approval_list().columns(),
        [&](LedgerReader& ledger, Listing& listing) {
            if (Status known = check_names(frame, ledger, command.filter); !known.ok()) {
                return known;
            }
            faults = lists::write_approvals(ledger, command.filter, command.verifies, listing);
            return Status::success();
        });
    if (!listed.ok() || faults == 0) {
        return listed;
    }
    return Error{ErrorCode::kCorrupt, std::to_string(faults) +
                                          (faults == 1 ? " approval is" : " approvals are") +
                                          " not proved by a signature"};
}

void declare_approval_report(Subcommand group) {
    auto [approvals, command] = add_command(
        group, "approvals", "List approvals, and verify their signatures", run_approvals);
    add_id(approvals, "--account", "A", command.filter.account.emplace(), "Account").required();
    add_flag(approvals, "--verify", command.verifies,
             "Check every signature against its key, its statement and the journal");
    add_list_options(approvals, command.list);
}

void declare_plain(Subcommand group, const lists::PlainList& list) {
    auto [app, command] =
        add_command(group, std::string(list.command), std::string(list.command_text), run_plain);
    command.list = &list;
    add_id(app, "--account", "A", command.filter.account.emplace(), "Account").required();
    if (list.by_creator) {
        add_id(app, "--creator", "C", command.filter.creator, "Only this creator");
    }
    if (list.history != nullptr) {
        add_flag(app, "--history", command.history,
                 "List every change, with its actor and approver");
    }
    add_list_options(app, command.output);
}

// ---- Changes outside the ledger (controls K13) --------------------------------------------------

Status run_changes(const Frame& frame, const Format& format) {
    return list_registry(
        frame, format, {{"at"}, {"actor"}, {"change"}, {"reason"}, {"store"}},
        [](store::Registry& registry) { return registry.changes(); },
        [](const store::ChangeRow& row) -> Row {
            return {row.at.to_string(), row.author.actor, row.change,
                    text_or_null(row.author.reason), row.store};
        });
}

}  // namespace

void declare_report(Subcommand app) {
    const Subcommand group = app.add_group("report", "Report the contents of the ledger");
    auto [changes, format] = add_command(
        group, "changes",
        "List who changed accounts, shops, tokens, users and destinations, when and why",
        run_changes);
    add_format(changes, format);
    for (const Report& report : lists::reports()) {
        declare_report_command(group, report, std::string(report.name));
    }
    declare_click_report(group);
    auto [statement, command] =
        add_command(group, "statement", "Print one creator's month", run_statement);
    add_id(statement, "--account", "A", command.account, "Account of the creator").required();
    add_id(statement, "--creator", "C", command.creator, "Creator").required();
    add_value(statement, "--month", "YYYY-MM", command.month, parse_month, "Month in UTC")
        .required();
    add_list_options(statement, command.list);

    auto [statements, all] = add_command(
        group, "statements", "Write the month of every creator of an account to files, in one pass",
        run_statements);
    all.list.format = Format::kCsv;
    add_month(statements, all);
    add_file(statements, "--into", "DIR", all.target, FileUse::kNewFolder,
             "Folder of the files, one per creator; existing files are replaced")
        .required();
    add_ledger(statements, all.list.ledger);
    add_format(statements, all.list.format, "Format of the files (default: csv)");

    auto [balance, balanced] =
        add_command(group, "trial-balance",
                    "Print every ledger account's opening, debit, credit and closing of a month",
                    run_trial_balance);
    add_month(balance, balanced);
    add_list_options(balance, balanced.list);
    for (const lists::PlainList* const list : lists::plain_lists()) {
        if (!list->command.empty()) {
            declare_plain(group, *list);
        }
    }
    declare_approval_report(group);
}

}  // namespace sluice::cli
