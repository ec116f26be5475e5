// sluice report ...
#include "worker/reports/report.hpp"

#include <algorithm>

#include "os/clock/clock.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/access/submit.hpp"
#include "worker/cli/cli_values.hpp"
#include "worker/cli/subcommands.hpp"
#include "worker/reports/statement.hpp"

namespace sluice::cli {
namespace {

struct ReportCommand {
    const Report* report = nullptr;
    ReportFilter filter;
    std::string ledger;
    Format format = Format::kTable;
};

struct StatementCommand {
    CreatorId creator;
    Month month;
    std::string ledger;
    Format format = Format::kTable;
};

bool is_creator(LedgerReader& ledger, const CreatorId& creator) {
    std::vector<ProgramRow> programs;
    ledger.scan_programs([&](const ProgramRow& row) {
        programs.push_back(row);
        return true;
    });
    return std::any_of(programs.begin(), programs.end(), [&](const ProgramRow& row) {
        return ledger.membership(row.program.account, row.program.id, creator).has_value();
    });
}

/// A shop without an applied input is known to the registry alone.
Status check_shop(const Frame& frame, LedgerReader& ledger, const ReportFilter& filter) {
    if (!filter.shop || !shops_of(ledger, filter).empty()) {
        return Status::success();
    }
    auto registry = store::Registry::open(frame.paths(), store::Registry::Mode::kReadOnly);
    if (!registry.ok()) {
        return registry.error();
    }
    const auto shop = find_shop(*registry.value(), *filter.shop);
    return shop.ok() ? Status::success() : Status(shop.error());
}

/// A name that does not exist is a mistake of the caller: it gets no empty report.
Status check_names(const Frame& frame, LedgerReader& ledger, const ReportFilter& filter) {
    if (filter.creator && !is_creator(ledger, *filter.creator)) {
        return Error{ErrorCode::kNotFound,
                     "creator " + filter.creator->str() + " was never in a program"};
    }
    return check_shop(frame, ledger, filter);
}

Status run_report(const Frame& frame, const ReportCommand& command) {
    return with_snapshot(frame, command.ledger, [&](LedgerReader& ledger) {
        if (Status known = check_names(frame, ledger, command.filter); !known.ok()) {
            return known;
        }
        Listing listing(command.format, command.report->columns);
        command.report->write(ledger, command.filter, now(), listing);
        listing.finish();
        return Status::success();
    });
}

Status run_statement(const Frame& frame, const StatementCommand& command) {
    return with_snapshot(frame, command.ledger, [&](LedgerReader& ledger) {
        ReportFilter named;
        named.creator = command.creator;
        if (Status known = check_names(frame, ledger, named); !known.ok()) {
            return known;
        }
        Listing listing(command.format, statement_columns());
        write_statement(ledger, command.creator, command.month, listing);
        listing.finish();
        return Status::success();
    });
}

/// A filter that a report does not know is a mistake in the command line; ignoring it would give
/// figures that were not asked for.
void refuse_idle_filters(CLI::App& app, const Report& report) {
    app.parse_complete_callback([&app, &report] {
        const auto refuse = [&](const char* option, bool means_something) {
            if (!means_something && app.count(option) > 0) {
                throw CLI::ValidationError(option, "does not apply to " + std::string(report.name));
            }
        };
        refuse("--shop", report.by_shop);
        refuse("--creator", report.by_creator);
        refuse("--from", report.by_time);
        refuse("--to", report.by_time);
    });
}

void declare_one(CLI::App& group, Frame& frame, const Report& report) {
    CLI::App& app = add_command(group, std::string(report.name), std::string(report.description));
    ReportCommand& command = on_run(app, frame, run_report);
    command.report = &report;
    add_id(app, "--shop", "S", command.filter.shop, "Only this shop's");
    add_id(app, "--creator", "C", command.filter.creator, "Only this creator's");
    add_value(app, "--from", "T", command.filter.from, parse_time, "From this time on (RFC 3339)");
    add_value(app, "--to", "T", command.filter.to, parse_time, "Before this time (RFC 3339)");
    add_ledger(app, command.ledger);
    add_format(app, command.format);
    refuse_idle_filters(app, report);
}

}  // namespace

void declare_report(CLI::App& app, Frame& frame) {
    CLI::App& group = add_group(app, "report", "What the ledger holds");
    for (const Report& report : reports()) {
        declare_one(group, frame, report);
    }
    CLI::App& statement = add_command(group, "statement", "One creator's month");
    StatementCommand& command = on_run(statement, frame, run_statement);
    add_id(statement, "--creator", "C", command.creator, "The creator").required();
    add_value(statement, "--month", "YYYY-MM", command.month, parse_month, "The month, UTC")
        .required();
    add_ledger(statement, command.ledger);
    add_format(statement, command.format);
}

}  // namespace sluice::cli
