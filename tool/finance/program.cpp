// sluice program apply|preview|show|list
#include "core/lists/programs.hpp"
#include "core/rules/account.hpp"
#include "program/cli/cli_values.hpp"
#include "program/cli/output.hpp"
#include "program/commands.hpp"
#include "tool/setup/import.hpp"
#include "tool/setup/name_checks.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/access/submit.hpp"

namespace sluice::cli {
namespace {

struct ApplyCommand {
    std::string file;
    std::optional<Timestamp> effective_from;
    SubmitOptions submit;
    DryRunOptions dry_run;
};

struct ShowProgramCommand {
    ProgramId program;
    ListOptions list;
};

Status run_apply(const Frame& frame, const ApplyCommand& command) {
    auto apply = read_program_apply(frame, command.file, command.submit.ledger_url);
    if (!apply.ok()) {
        return apply.error();
    }
    apply->effective_from = command.effective_from;
    const Status checked =
        with_snapshot(frame, command.submit.ledger_url, ReadFrom::kPrimary,
                      [&](LedgerReader& ledger) { print_warnings(check_rules(ledger, *apply)); });
    if (!checked.ok()) {
        return checked;
    }
    return submit_or_try(frame, apply.value(), command.submit, command.dry_run);
}

Status run_show_program(const Frame& frame, const ShowProgramCommand& command) {
    return with_snapshot(frame, command.list.ledger, [&](LedgerReader& ledger) -> Status {
        const std::optional<ProgramRow> row = ledger.program(command.program);
        if (!row) {
            return not_found("there is no program " + command.program.str());
        }
        Json shown = lists::program_list().object(*row);
        shown["policy"] = lists::policy_object(account_settings(ledger, row->program.account));
        write_object(command.list.format, shown);
        return Status::success();
    });
}

Status run_list_programs(const Frame& frame, const ListOptions& options) {
    return list_rows(frame, options, lists::program_list().columns(),
                     [&](LedgerReader& ledger, Listing& listing) {
                         ledger.scan_programs([&](const ProgramRow& row) {
                             listing.add(lists::program_list().row(row));
                         });
                     });
}

}  // namespace

void declare_program(Subcommand app) {
    const Subcommand group = app.add_group("program", "Manage programs, which define commissions");
    auto [apply, applied] =
        add_command(group, "apply", "Apply the programs and policies of a file", run_apply);
    add_file(apply, "FILE", "", applied.file, FileUse::kInput,
             "TOML file; programs that it does not name stay unchanged")
        .required();
    add_effective_from(apply, applied.effective_from);
    add_dry_run(apply, applied.dry_run);
    add_command_options(apply, applied.submit, false);
    add_no_wait(apply, applied.submit.no_wait);

    declare_program_preview(group);

    auto [show, shown] = add_command(
        group, "show", "Show a program with its rules and the account's policy", run_show_program);
    add_id(show, "P", "P", shown.program, "Program").required();
    add_list_options(show, shown.list);

    auto [list, listed] = add_command(group, "list", "List programs", run_list_programs);
    add_list_options(list, listed);
}

}  // namespace sluice::cli
