// sluice opening import|list
#include <utility>

#include "core/ledger/command_rows.hpp"
#include "core/rules/account.hpp"
#include "program/cli/cli_values.hpp"
#include "program/cli/csv_reader.hpp"
#include "program/cli/output.hpp"
#include "program/commands.hpp"
#include "tool/setup/import.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/access/submit.hpp"

namespace sluice::cli {
namespace {

struct ImportBalancesCommand {
    std::string file;
    Timestamp at;
    SubmitOptions submit;
};

struct ListBalancesCommand : AccountListOptions {
    std::optional<ProgramId> program;
};

Status add_opening(const CsvRow& row, OpeningImport& import) {
    OpeningImport::Row added;
    added.line = static_cast<std::uint32_t>(row.line);
    Status known = take_id("creator_id", row.fields[0], added.creator);
    known = known.ok() ? take_id("program_id", row.fields[1], added.program) : known;
    if (!known.ok()) {
        return known;
    }
    const auto currency = Currency::parse(row.fields[2]);
    if (!currency) {
        return invalid("currency: expected an ISO 4217 code");
    }
    const auto amount = parse_amount(row.fields[3]);
    if (!amount.ok()) {
        return invalid("amount: " + amount.error().message);
    }
    if (amount->is_zero()) {
        return invalid("amount: 0 opens nothing; leave the row out");
    }
    if (!in_minor_units(*amount, *currency)) {
        return invalid("amount: expected at most " + std::to_string(currency->minor_units()) +
                       " digits after the point in " + row.fields[2]);
    }
    added.amount = {*currency, *amount};
    import.rows.push_back(std::move(added));
    return Status::success();
}

/// Replaces each `line N:` of a rule that refuses rows by `file:N:`, a line of the message each.
Status with_file_in_lines(const std::string& file, Status done) {
    constexpr std::string_view kNext = "; line ";
    Status named = with_file(file, done);
    if (named.ok() || named.error().message == done.error().message) {
        return named;
    }
    std::string text = named.error().message;
    for (std::size_t at = text.find(kNext); at != std::string::npos;
         at = text.find(kNext, at + file.size())) {
        text.replace(at, kNext.size(), "\n" + file + ":");
    }
    return Error{named.error().code, std::move(text)};
}

Status run_import_balances(const Frame& frame, const ImportBalancesCommand& command) {
    OpeningImport import;
    import.at = command.at;
    Status read = read_rows(command.file, {{"creator_id", "program_id", "currency", "amount"}},
                            [&](const CsvRow& row) { return add_opening(row, import); });
    if (!read.ok()) {
        return read;
    }
    if (import.rows.empty()) {
        return invalid(command.file + ":2: expected at least one balance");
    }
    return with_file_in_lines(command.file, submit(frame, import, command.submit));
}

Status run_list_balances(const Frame& frame, const ListBalancesCommand& command) {
    return list_account_rows(
        frame, command,
        left("program_id creator_id currency") + right("amount") + left("at command_id"),
        [&](LedgerReader& ledger, AccountNumber account, Listing& listing) {
            const OpeningBalance first{account, {}, {}, {}, {}, {}};
            ledger.scan(first, {1, 1}, [&](const OpeningBalance& row) {
                MoneyCommand posted{row.command_id};
                if ((!command.program || row.program == *command.program) && ledger.load(posted)) {
                    listing.add({row.program.str(), shown_id(ledger, account, row.creator).str(),
                                 row.currency.code(), posted.amount.to_string(), row.at.to_string(),
                                 row.command_id});
                }
            });
        });
}

}  // namespace

void declare_opening(Subcommand app) {
    const Subcommand opening =
        app.add_group("opening", "Take over the balances of an earlier system");
    auto [import, imported] = add_command(
        opening, "import", "Import opening balances: columns creator_id,program_id,currency,amount",
        run_import_balances);
    add_file(import, "FILE", "", imported.file, FileUse::kInput,
             "CSV file; all of it is imported, or nothing")
        .required();
    add_account(import, imported.submit);
    add_value(
        import, "--at", "T", imported.at, parse_time,
        "Date of the balances (RFC 3339): orders of their programs from before it earn nothing")
        .required();
    add_command_options(import, imported.submit, false);

    auto [list, listed] =
        add_command(opening, "list", "List the opening balances that stand", run_list_balances);
    add_id(list, "--account", "A", listed.account, "Account").required();
    add_id(list, "--program", "P", listed.program, "Only balances of this program");
    add_list_options(list, listed.list);
}

}  // namespace sluice::cli
