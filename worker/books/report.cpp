// sluice report orders|journal|balances|payouts|anomalies|products|statement
#include "worker/access/ledger_access.hpp"
#include "worker/access/submit.hpp"
#include "worker/books/report_options.hpp"
#include "worker/cli/cli_values.hpp"
#include "worker/cli/subcommands.hpp"
#include "worker/reports/statement.hpp"

namespace sluice::cli {
namespace {

struct StatementCommand {
    AccountId account;
    CreatorId creator;
    Month month;
    std::string ledger;
    Format format = Format::kTable;
};

Status run_statement(const Frame& frame, const StatementCommand& command) {
    const auto account = account_number(frame, command.account);
    if (!account.ok()) {
        return account.error();
    }
    return with_snapshot(frame, command.ledger, [&](LedgerReader& ledger) {
        ReportFilter named;
        named.account = command.account;
        named.creator = command.creator;
        if (Status known = check_names(frame, ledger, named); !known.ok()) {
            return known;
        }
        write_statement(ledger, {*account, command.account, command.creator, command.month},
                        command.format);
        return Status::success();
    });
}

}  // namespace

void declare_report(Subcommand app) {
    const Subcommand group = app.add_group("report", "What the ledger holds");
    for (const Report& report : reports()) {
        declare_report_command(group, report, std::string(report.name));
    }
    auto [statement, command] =
        add_command(group, "statement", "One creator's month", run_statement);
    add_id(statement, "--account", "A", command.account, "The creator's account").required();
    add_id(statement, "--creator", "C", command.creator, "The creator").required();
    add_value(statement, "--month", "YYYY-MM", command.month, parse_month, "The month, UTC")
        .required();
    add_ledger(statement, command.ledger);
    add_format(statement, command.format);
}

}  // namespace sluice::cli
