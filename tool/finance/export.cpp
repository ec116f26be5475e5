// sluice export journal
#include "program/cli/cli_values.hpp"
#include "program/commands.hpp"
#include "tool/reports/journal_export.hpp"
#include "tool/reports/report_options.hpp"
#include "worker/access/ledger_access.hpp"

namespace sluice::cli {
namespace {

struct ExportJournalCommand {
    JournalExport journal;
    std::string map, ledger;
};

Status run_export_journal(const Frame& frame, const ExportJournalCommand& command) {
    JournalExport journal = command.journal;
    if (!command.map.empty()) {
        if (Status read = assign(journal.map, AccountMap::read(command.map, journal.form));
            !read.ok()) {
            return read;
        }
    }
    tell_standstill(frame);
    return with_snapshot(frame, command.ledger, [&](LedgerReader& ledger) {
        if (Status known = check_names(frame, ledger, {journal.account}); !known.ok()) {
            return known;
        }
        write_journal_export(ledger, journal, stdout);
        return Status::success();
    });
}

}  // namespace

void declare_export_journal(Subcommand group) {
    auto [journal, command] = add_command(
        group, "journal", "Write the journal's postings for the general ledger of a company",
        run_export_journal);
    add_word<JournalForm>(journal, "--form", command.journal.form,
                          {{"hledger", JournalForm::kHledger},
                           {"beancount", JournalForm::kBeancount},
                           {"csv", JournalForm::kCsv}},
                          "Form of the output")
        .required();
    add_id(journal, "--account", "A", command.journal.account,
           "Only postings of this account (default: every account)");
    add_value(journal, "--from", "T", command.journal.from, parse_time,
              "Start of the period by accounting date, inclusive (RFC 3339)");
    add_value(journal, "--until", "T", command.journal.to, parse_time,
              "End of the period by accounting date, exclusive (RFC 3339)");
    const Option open = add_word<Declarations>(
        journal, "--open", command.journal.open,
        {{"once", Declarations::kOnce},
         {"never", Declarations::kNever},
         {"always", Declarations::kAlways}},
        "Declarations of accounts and currencies: those that no posting before --from "
        "has, none, or "
        "all of the period (default: once)");
    add_file(journal, "--map", "FILE", command.map, FileUse::kInput,
             "Names in the general ledger: a CSV file with columns ledger_account (expense, owed, "
             "payout, paid) and code, optionally account_id, program_id and currency; a code may "
             "contain {account}, {program}, {creator} and {currency}");
    journal.require([&given = command, open]() -> std::string {
        return open.is_given() && given.journal.form == JournalForm::kCsv
                   ? "--form hledger or beancount, for --open,"
                   : "";
    });
    add_ledger(journal, command.ledger);
}

}  // namespace sluice::cli
