// sluice report clicks
#include "core/lists/clicks.hpp"

#include "core/rules/account.hpp"
#include "program/cli/cli_values.hpp"
#include "tool/reports/report_options.hpp"
#include "worker/access/ledger_access.hpp"

namespace sluice::cli {
namespace {

using lists::ClicksBy;

struct ClicksCommand {
    ReportFilter filter;
    std::optional<ProgramId> program;
    std::optional<LinkId> link;
    std::optional<ClicksBy> by;
    bool unmatched = false;
    ListOptions list;
};

/// Clicks may name a program that does not exist; a person who asks for one has misspelt it.
Status check_program(LedgerReader& ledger, AccountNumber account, const ClicksCommand& command) {
    if (!command.program || command.unmatched) {
        return Status::success();
    }
    const auto row = ledger.program(*command.program);
    return row && row->program.account == account
               ? Status::success()
               : Status(not_found("account " + command.filter.account->str() + " has no program " +
                                  command.program->str()));
}

Status run_clicks(const Frame& frame, const ClicksCommand& command) {
    tell_standstill(frame);
    return list_account_rows(
        frame, {*command.filter.account, command.list}, lists::click_list().columns(),
        [&](LedgerReader& ledger, AccountNumber account, Listing& listing) -> Status {
            ReportFilter named = command.filter;
            if (command.unmatched) {
                named.creator.reset();
            }
            Status known = check_names(frame, ledger, named);
            known = known.ok() ? check_program(ledger, account, command) : known;
            if (!known.ok()) {
                return known;
            }
            lists::ClickListing of{account};
            of.program = command.program;
            if (command.filter.creator) {
                of.creator = first_id(ledger, account, *command.filter.creator);
            }
            of.link = command.link;
            of.from = command.filter.from;
            of.to = command.filter.to;
            of.by = command.by.value_or(ClicksBy::kDay);
            of.unmatched = command.unmatched;
            lists::write_clicks(ledger, of, listing);
            return Status::success();
        });
}

Result<Timestamp> parse_day(std::string_view text) {
    const auto at = parse_time(text);
    if (at.ok() && *at != start_of_day(*at)) {
        return invalid("expected the first instant of a UTC day, such as 2026-03-01T00:00:00Z");
    }
    return at;
}

}  // namespace

void declare_click_report(Subcommand group) {
    auto [clicks, command] = add_command(
        group, "clicks", "List clicks, devices, orders and commission of links", run_clicks);
    ReportFilter& filter = command.filter;
    add_id(clicks, "--account", "A", filter.account.emplace(), "Account").required();
    add_id(clicks, "--program", "P", command.program, "Only clicks of this program");
    add_id(clicks, "--creator", "C", filter.creator, "Only clicks of this creator");
    add_value(clicks, "--link", "L", command.link, parse_link_id, "Only clicks of this link");
    add_value(clicks, "--from", "T", filter.from, parse_day,
              "First instant of the first UTC day (RFC 3339; default: all)");
    add_value(clicks, "--to", "T", filter.to, parse_day,
              "First instant of the UTC day after the last (RFC 3339; default: all)");
    const Option by = add_word<ClicksBy>(clicks, "--by", command.by,
                                         {{"day", ClicksBy::kDay},
                                          {"month", ClicksBy::kMonth},
                                          {"link", ClicksBy::kLink},
                                          {"creator", ClicksBy::kCreator}},
                                         "What the rows are grouped by (default: day)");
    add_flag(clicks, "--unmatched", command.unmatched,
             "List programs and creators of clicks that do not count, because the account lacks "
             "the program, or the program the creator")
        .excludes(by);
    add_list_options(clicks, command.list);
}

}  // namespace sluice::cli
