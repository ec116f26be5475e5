#include "tool/reports/report_options.hpp"

#include <algorithm>
#include <cstdio>

#include "core/explain/node_names.hpp"
#include "core/ledger/account_rows.hpp"
#include "core/ledger/payout_rows.hpp"
#include "os/clock/clock.hpp"
#include "program/cli/cli_values.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/access/registry_access.hpp"

namespace sluice::cli {
namespace {

/// Looks in the registry for an account or shop that has no applied input yet.
Status check_registry(const Frame& frame, LedgerReader& ledger, const ReportFilter& filter) {
    const bool shop_is_known = !filter.shop || !shops_of(ledger, filter).empty();
    if (shop_is_known && !filter.account) {
        return Status::success();
    }
    return ask_registry(frame, [&](store::Registry& registry) -> Status {
        if (filter.account) {
            if (const auto account = find_account(registry, *filter.account); !account.ok()) {
                return account.error();
            }
        }
        if (shop_is_known) {
            return Status::success();
        }
        const auto shop = find_shop(registry, *filter.shop);
        if (shop.ok() && filter.account && shop->account_id != *filter.account) {
            return not_found("shop " + filter.shop->str() + " belongs to another account than " +
                             filter.account->str());
        }
        return shop.ok() ? Status::success() : shop.error();
    });
}

bool is_creator(LedgerReader& ledger, const ReportFilter& filter) {
    const CreatorNames names(ledger);
    const auto accounts = account_ids(ledger);
    return std::ranges::any_of(accounts, [&](const auto& account) {
        CreatorRow row{account.first, names.first(account.first, *filter.creator), {}, {}, {}};
        return (!filter.account || *filter.account == account.second) && ledger.load(row);
    });
}

/// Shows the node in a table once there are several nodes.
std::vector<Column> columns_of(const ReportCommand& command, LedgerReader& ledger) {
    std::vector<Column> columns = printed(command.report->columns);
    if (command.filter.negative) {
        columns = std::move(columns) + printed(lists::negative_list().columns());
    }
    const bool many = NodeNames(ledger).count() > 1;
    for (Column& column : columns) {
        column.in_table = column.in_table || (many && column.name == "node");
    }
    return columns;
}

Status run(const Frame& frame, const ReportCommand& command) {
    const Timestamp at = now();
    if (command.filter.as_of && *command.filter.as_of < at &&
        (command.report->options & lists::kAsOfPast) == 0) {
        return invalid(
            "--as-of lies in the past: the ledger has orders as they are now; `sluice "
            "report balances --as-of` and `report statement` tell what was owed then");
    }
    tell_standstill(frame);
    return with_snapshot(frame, command.list.ledger, [&](LedgerReader& ledger) {
        if (Status known = check_names(frame, ledger, command.filter); !known.ok()) {
            return known;
        }
        Listing listing(command.list.format, columns_of(command, ledger));
        command.report->write(ledger, command.filter, command.filter.as_of.value_or(at), listing);
        listing.finish();
        return Status::success();
    });
}

Result<PayoutState> parse_state(std::string_view text) {
    return parsed(parse_name<PayoutState>(text),
                  "expected CLOSED, APPROVED, SENT, PAID, VOID, FAILED or RETURNED");
}

/// Adds `--account`, which may be required, because equal ids in two accounts are two creators.
void add_scope(Subcommand app, ReportCommand& command, bool required) {
    const Option account =
        add_id(app, "--account", "A", command.filter.account, "Only rows of this account");
    if (!required) {
        return;
    }
    add_flag(app, "--all-accounts", command.all_accounts, "Rows of every account")
        .excludes(account);
    app.require([&command] {
        return command.filter.account || command.all_accounts ? "" : "--account or --all-accounts";
    });
}

void add_filters(Subcommand app, ReportCommand& command) {
    ReportFilter& filter = command.filter;
    const unsigned options = command.report->options;
    if ((options & (lists::kByAccount | lists::kNeedsAccount)) != 0) {
        add_scope(app, command, (options & lists::kNeedsAccount) != 0);
    }
    if ((options & lists::kByShop) != 0) {
        add_id(app, "--shop", "S", filter.shop, "Only rows of this shop");
    }
    if ((options & lists::kByCreator) != 0) {
        add_id(app, "--creator", "C", filter.creator, "Only rows of this creator");
    }
    if ((options & lists::kByTime) != 0) {
        add_value(app, "--from", "T", filter.from, parse_time,
                  "Start of the period, inclusive (RFC 3339)");
        add_value(app, "--to", "T", filter.to, parse_time,
                  "End of the period, exclusive (RFC 3339)");
    }
    if ((options & lists::kByDate) != 0) {
        add_word<bool>(app, "--by", filter.by_receipt, {{"accounting", false}, {"receipt", true}},
                       "Date that --from and --to refer to (default: accounting)");
    }
    if ((options & lists::kAsOf) != 0) {
        add_value(
            app, "--as-of", "T", filter.as_of, parse_time,
            (options & lists::kAsOfPast) != 0
                ? "Report what was dated before T, by accounting date; for a future T, the amounts "
                  "that will be pending and payable (RFC 3339; default: now)"
                : "Future date for which pending and payable amounts are computed (RFC 3339; "
                  "default: now)");
    }
    if ((options & lists::kNegative) != 0) {
        add_flag(app, "--negative", filter.negative,
                 "Only creators who owe money, with the date since when, and the days");
    }
    if ((options & lists::kByPayout) != 0) {
        add_value(app, "--state", "S", filter.state, parse_state, "Only payouts in this state");
        add_id(app, "--payout-run", "ID", filter.payout_run, "Only payouts of this payout run");
        add_value(app, "--currency", "CUR", filter.currency, parse_currency,
                  "Only payouts in this currency (ISO 4217)");
    }
}

}  // namespace

Status check_names(const Frame& frame, LedgerReader& ledger, const ReportFilter& filter) {
    if (Status known = check_registry(frame, ledger, filter); !known.ok()) {
        return known;
    }
    if (filter.creator && !is_creator(ledger, filter)) {
        return not_found("creator " + filter.creator->str() + " was never in a program" +
                         (filter.account ? " of account " + filter.account->str() : ""));
    }
    return Status::success();
}

void warn_unknown_names(const Frame& frame, LedgerReader& ledger, const ReportFilter& filter,
                        const char* more) {
    if (const Status known = check_names(frame, ledger, filter); !known.ok()) {
        std::fprintf(stderr, "sluice: warning: %s%s\n", printable(known.error().message).c_str(),
                     more);
    }
}

void declare_report_command(Subcommand group, const Report& report, const std::string& name) {
    auto [app, command] = add_command(group, name, std::string(report.description), run);
    command.report = &report;
    add_filters(app, command);
    add_list_options(app, command.list);
}

}  // namespace sluice::cli
