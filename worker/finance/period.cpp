// sluice period close|list
#include "core/ledger/account_rows.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/access/registry_access.hpp"
#include "worker/access/submit.hpp"
#include "worker/cli/cli_values.hpp"
#include "worker/cli/output.hpp"
#include "worker/finance/finance.hpp"

namespace sluice::cli {
namespace {

struct ListCommand {
    AccountId account;
    ListOptions list;
};

Status run_list(const Frame& frame, const ListCommand& command) {
    const auto account = account_number(frame, command.account);
    if (!account.ok()) {
        return account.error();
    }
    return list_rows(
        frame, command.list,
        {{"account_id"}, {"until"}, {"closed_at"}, {"closed_by"}, {"command_id"}},
        [&](LedgerReader& ledger, Listing& listing) {
            Period first;
            first.account = *account;
            ledger.scan(first, {1, 1}, [&](const Period& row) {
                listing.add({command.account.str(), row.until.to_string(),
                             row.closed_at.to_string(), row.closed_by, row.command_id});
                return true;
            });
            return Status::success();
        });
}

}  // namespace

void declare_period(Subcommand app) {
    const Subcommand group = app.add_group("period", "Close accounting periods");
    auto [close, closed] = add_command(
        group, "close", "Close the months before a time, permanently", run_written<PeriodClose>);
    add_id(close, "--account", "A", closed.submit.account.emplace(), "Account").required();
    add_value(close, "--until", "T", closed.command.until, parse_time,
              "First instant of a month in UTC (RFC 3339)")
        .required();
    add_flag(close, "--allow-late", closed.command.allow_late,
             "Close although a node has not applied all of the period yet");
    add_command_options(close, closed.submit, false);

    auto [list, listed] =
        add_command(group, "list", "List the closed periods of an account", run_list);
    add_id(list, "--account", "A", listed.account, "Account").required();
    add_list_options(list, listed.list);
}

}  // namespace sluice::cli
