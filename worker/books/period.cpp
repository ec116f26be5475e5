// sluice period close|list
#include "core/ledger/account_rows.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/access/submit.hpp"
#include "worker/cli/cli_values.hpp"
#include "worker/cli/output.hpp"
#include "worker/cli/subcommands.hpp"

namespace sluice::cli {
namespace {

struct CloseCommand {
    PeriodClose close;
    SubmitOptions submit;
};

struct ListCommand {
    AccountId account;
    std::string ledger;
    Format format = Format::kTable;
};

Status run_close(const Frame& frame, const CloseCommand& command) {
    return submit(frame, command.close, command.submit);
}

Status run_list(const Frame& frame, const ListCommand& command) {
    const auto account = account_number(frame, command.account);
    if (!account.ok()) {
        return account.error();
    }
    return with_snapshot(frame, command.ledger, [&](LedgerReader& ledger) {
        Listing listing(command.format,
                        {{"account_id"}, {"until"}, {"closed_at"}, {"closed_by"}, {"command_id"}});
        Period first;
        first.account = *account;
        ledger.scan(first, {1, 1}, [&](const Period& row) {
            listing.add({{"account_id", command.account.str()},
                         {"until", row.until.to_string()},
                         {"closed_at", row.closed_at.to_string()},
                         {"closed_by", row.closed_by},
                         {"command_id", row.command_id}});
            return true;
        });
        listing.finish();
        return Status::success();
    });
}

}  // namespace

void declare_period(Subcommand app) {
    const Subcommand group = app.add_group("period", "Months that are closed stay as they are");
    auto [close, closed] =
        add_command(group, "close", "Close the months before a time, for ever", run_close);
    add_id(close, "--account", "A", closed.submit.account.emplace(), "The account").required();
    add_value(close, "--until", "T", closed.close.until, parse_time,
              "The first instant of a month, UTC (RFC 3339)")
        .required();
    add_flag(close, "--allow-late", closed.close.allow_late,
             "Also if a node has not applied all of the period yet");
    add_command_options(close, closed.submit, false);

    auto [list, listed] = add_command(group, "list", "Closed periods of an account", run_list);
    add_id(list, "--account", "A", listed.account, "The account").required();
    add_ledger(list, listed.ledger);
    add_format(list, listed.format);
}

}  // namespace sluice::cli
