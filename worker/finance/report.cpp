// sluice report orders|journal|balances|payouts|anomalies|products|statement
#include "worker/reports/report.hpp"

#include "worker/access/ledger_access.hpp"
#include "worker/access/registry_access.hpp"
#include "worker/access/submit.hpp"
#include "worker/cli/cli_values.hpp"
#include "worker/finance/finance.hpp"

namespace sluice::cli {
namespace {

struct StatementCommand {
    AccountId account;
    CreatorId creator;
    Month month;
    ListOptions list;
};

Status run_statement(const Frame& frame, const StatementCommand& command) {
    const auto account = account_number(frame, command.account);
    if (!account.ok()) {
        return account.error();
    }
    return with_snapshot(frame, command.list.ledger, [&](LedgerReader& ledger) {
        ReportFilter named;
        named.account = command.account;
        named.creator = command.creator;
        if (Status known = check_names(frame, ledger, named); !known.ok()) {
            return known;
        }
        write_statement(ledger, {*account, command.account, command.creator, command.month},
                        command.list.format);
        return Status::success();
    });
}

}  // namespace

void declare_report(Subcommand app) {
    const Subcommand group = app.add_group("report", "Report the contents of the ledger");
    for (const Report& report : reports()) {
        declare_report_command(group, report, std::string(report.name));
    }
    auto [statement, command] =
        add_command(group, "statement", "Print one creator's month", run_statement);
    add_id(statement, "--account", "A", command.account, "Account of the creator").required();
    add_id(statement, "--creator", "C", command.creator, "Creator").required();
    add_value(statement, "--month", "YYYY-MM", command.month, parse_month, "Month in UTC")
        .required();
    add_list_options(statement, command.list);
}

}  // namespace sluice::cli
