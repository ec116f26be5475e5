// sluice period close|list
#include <cstdio>

#include "core/journal/period_sums.hpp"
#include "core/ledger/paged_reads.hpp"
#include "core/lists/statement.hpp"
#include "core/orders/reply.hpp"
#include "core/rules/account.hpp"
#include "core/statements/statements.hpp"
#include "os/clock/clock.hpp"
#include "program/cli/cli_values.hpp"
#include "program/cli/output.hpp"
#include "program/commands.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/access/submit.hpp"

namespace sluice::cli {
namespace {

Status run_list_months(const Frame& frame, const AccountListOptions& command) {
    return list_account_rows(frame, command, lists::period_list().columns(),
                             [&](LedgerReader& ledger, AccountNumber account, Listing& listing) {
                                 lists::write_periods(ledger, account, command.account, listing);
                             });
}

struct CloseMonthCommand {
    PeriodClose close;
    SubmitOptions submit;
    bool preview = false;
    Format format = Format::kTable;
};

Columns preview_columns() {
    return left("program_id currency") +
           right("opening earned adjusted paid_out closing in_payout paid postings late_postings");
}

Row preview_row(const ProgramId& program, Currency currency, const ProgramMonth& month) {
    return {program.str(),
            currency.code(),
            month.sums.opening.to_string(),
            month.sums.earned.to_string(),
            month.sums.adjusted.to_string(),
            month.sums.paid_out.to_string(),
            month.sums.closing.to_string(),
            (-month.in_payout.closing).to_string(),
            (-month.paid.closing).to_string(),
            month.postings,
            month.late_postings};
}

/// Nodes and dead letters whose inputs would be dated in the next period.
struct Late {
    std::vector<LedgerHead> nodes;
    std::uint64_t dead_letters = 0;  ///< Every node's.
};

void print_late(const Late& late, std::FILE* to) {
    for (const LedgerHead& head : late.nodes) {
        std::fprintf(to, "late: node %s has applied inputs received until %s only\n",
                     head.node.c_str(), head.last_received.to_string().c_str());
    }
    if (late.dead_letters != 0) {
        std::fprintf(to, "late: %s, received before the end, would be dated after it if replayed\n",
                     counted(late.dead_letters, "dead letter", "dead letters").c_str());
    }
}

Status preview(const CloseMonthCommand& command, AccountNumber account, LedgerReader& ledger) {
    const AccountId& account_id = *command.submit.account;
    const Timestamp at = now();
    const Timestamp until = command.close.until;
    const auto closed_until = account_settings(ledger, account).row.closed_until;
    if (Status fits = check_period_end(until, at, account_id, closed_until); !fits.ok()) {
        return fits;
    }
    const AccountMonth months =
        read_account_month(ledger, account, closed_until.value_or(kFirstInstant), until);
    Late late{late_nodes(ledger, until, at)};
    for (const auto& [shop, letters] : paged(ledger).dead_by_shop(account, kFirstInstant, until)) {
        late.dead_letters += letters.others;  // requests about persons are not replayed
    }
    list_all(command.format, preview_columns(), months, [](const auto& one) {
        return preview_row(one.first.first, one.first.second, one.second);
    });
    if (command.format != Format::kTable) {
        print_late(late, stderr);  // a listing is one list
        return Status::success();
    }
    print_late(late, stdout);
    std::printf("preview, nothing was changed: account %s would be closed until %s\n",
                account_id.str().c_str(), until.to_string().c_str());
    return Status::success();
}

Status run_close_month(const Frame& frame, const CloseMonthCommand& command) {
    if (!command.preview) {
        return submit(frame, command.close, command.submit);
    }
    return with_account(frame, *command.submit.account, command.submit.ledger_url,
                        ReadFrom::kPrimary, [&](LedgerReader& ledger, AccountNumber account) {
                            return preview(command, account, ledger);
                        });
}

}  // namespace

void declare_period(Subcommand app) {
    const Subcommand group = app.add_group("period", "Close accounting periods");
    auto [close, closed] =
        add_command(group, "close", "Close the months before a time, permanently", run_close_month);
    add_account(close, closed.submit);
    add_value(close, "--until", "T", closed.close.until, parse_time,
              "First instant of a month in UTC (RFC 3339)")
        .required();
    add_flag(close, "--allow-late", closed.close.allow_late,
             "Close although a node has not applied all of the period yet");
    const Option preview =
        add_flag(close, "--preview", closed.preview,
                 "Change nothing; print what would be closed by program and currency, and what "
                 "is late");
    add_format(close, closed.format, "Output format of --preview (default: table)").needs(preview);
    add_command_options(close, closed.submit, false);

    auto [list, listed] =
        add_command(group, "list", "List the closed periods of an account", run_list_months);
    add_id(list, "--account", "A", listed.account, "Account").required();
    add_list_options(list, listed.list);
}

}  // namespace sluice::cli
