#include "worker/access/dry_run.hpp"

#include <cstdio>

#include "os/clock/clock.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/cli/cli_values.hpp"

namespace sluice::cli {

void add_dry_run(Subcommand app, DryRunOptions& target) {
    const Option wanted =
        add_flag(app, "--dry-run", target.wanted,
                 "Change nothing: print per program, creator and currency what would change");
    add_value(app, "--format", "table|json|csv", target.format, parse_format,
              "How to write a dry run (default table)")
        .needs(wanted);
}

std::vector<Column> difference_columns() {
    return {{"program_id"},
            {"creator_id"},
            {"currency"},
            {"orders", Align::kRight},
            {"before", Align::kRight},
            {"after", Align::kRight},
            {"difference", Align::kRight}};
}

Json difference_row(const DryRunRow& row) {
    return {{"program_id", row.program.str()},         {"creator_id", row.creator.str()},
            {"currency", row.currency.code()},         {"orders", row.orders},
            {"before", row.before.to_string()},        {"after", row.after.to_string()},
            {"difference", row.difference.to_string()}};
}

Status print_dry_run(const Frame& frame, const Command& command, const SubmitOptions& options,
                     Format format) {
    const auto sender = sender_of(frame, options);
    if (!sender.ok()) {
        return sender.error();
    }
    CommandContext context;
    context.source.received_at = now();
    context.source.note = options.reason;
    context.source.actor = sender->actor;
    context.account = sender->account_number;
    context.shop = sender->shop_number;
    context.account_id = AccountId(sender->account_id);
    context.shop_id = ShopId(sender->shop_id);
    return with_snapshot(
        frame, options.ledger_url,
        [&](LedgerReader& ledger) -> Status {
            const auto tried = dry_run(command, context, ledger);
            if (!tried.ok()) {
                return tried.error();
            }
            Listing listing(format, difference_columns());
            for (const DryRunRow& row : tried->rows) {
                listing.add(difference_row(row));
            }
            listing.finish();
            if (format == Format::kTable) {
                std::printf("dry run, nothing was changed: %s\n", printable(tried->text).c_str());
            }
            return Status::success();
        },
        ReadFrom::kPrimary);
}

Status submit_or_try(const Frame& frame, const Command& command, const SubmitOptions& options,
                     const DryRunOptions& dry_run) {
    return dry_run.wanted ? print_dry_run(frame, command, options, dry_run.format)
                          : submit(frame, command, options);
}

}  // namespace sluice::cli
