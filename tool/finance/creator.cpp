// sluice creator import|set|rename|remove|show|list|page
#include <cstdio>

#include "core/lists/creators.hpp"
#include "core/orders/reply.hpp"
#include "core/protocol/personal_ids.hpp"
#include "core/rules/account.hpp"
#include "core/rules/attribution.hpp"
#include "core/values/shell_word.hpp"
#include "os/clock/clock.hpp"
#include "program/cli/cli_values.hpp"
#include "program/cli/output.hpp"
#include "program/commands.hpp"
#include "tool/finance/code_orders.hpp"
#include "tool/setup/import.hpp"
#include "tool/setup/name_checks.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/access/registry_access.hpp"

namespace sluice::cli {

namespace {

struct ShowCreatorCommand : AccountListOptions {
    CreatorId creator;
};

struct ListCreatorsCommand {
    std::optional<AccountId> account;
    std::optional<ProgramId> program;
    ListOptions list;
};

/// Returns columns of creators.csv, in this order.
CsvColumns creator_columns() {
    return {{"creator_id", "program_id"},
            {"code", "group", "valid_from", "valid_until", "name", "payee"}};
}

Status take_group(const std::string& text, std::optional<std::string>& group) {
    if (text.empty()) {
        return Status::success();
    }
    ProgramId checked;
    Status fits = take_id("group", text, checked);
    group = text;
    return fits;
}

Status add_creator(const CsvRow& row, CreatorImport& import) {
    CreatorImport::Row added;
    added.line = static_cast<std::uint32_t>(row.line);
    added.code = row.fields[2];
    if (added.code.size() > kWireIdBytesMax) {
        return invalid("code: expected at most 1024 bytes");
    }
    for (const Status& taken : {take_id("creator_id", row.fields[0], added.creator),
                                take_id("program_id", row.fields[1], added.program),
                                take_group(row.fields[3], added.group),
                                take_time("valid_from", row.fields[4], added.valid_from),
                                take_time("valid_until", row.fields[5], added.valid_until),
                                take_text("name", row.fields[6], added.name),
                                take_text("payee", row.fields[7], added.payee)}) {
        if (!taken.ok()) {
            return taken;
        }
    }
    if (added.payee && is_forgotten_payee(*added.payee)) {
        return invalid("payee: expected a reference; sha256:... stands for a forgotten one");
    }
    if (added.code.empty() && (added.valid_from || added.valid_until)) {
        return invalid("valid_from, valid_until: expected a code as well");
    }
    import.rows.push_back(std::move(added));
    return Status::success();
}

Status run_import_creators(const Frame& frame, const ImportOptions& options) {
    CreatorImport import;
    import.effective_from = options.effective_from;
    Status read = read_rows(options.file, creator_columns(),
                            [&](const CsvRow& row) { return add_creator(row, import); });
    if (read.ok()) {
        read = with_snapshot(frame, options.submit.ledger_url, ReadFrom::kPrimary,
                             [&](LedgerReader& ledger) {
                                 print_warnings(check_names(ledger, options.file, import));
                             });
    }
    return read.ok() ? submit_import(frame, options, import) : read;
}

Status run_set(const Frame& frame, const Written<CreatorSet>& written) {
    const CreatorSet& set = written.command;
    Status read = Status::success();
    if (set.program && set.group) {
        read = with_snapshot(frame, written.submit.ledger_url, ReadFrom::kPrimary,
                             [&](LedgerReader& ledger) {
                                 print_warnings(check_group(ledger, *set.program, *set.group));
                             });
    }
    return read.ok() ? run_written<CreatorSet>(frame, written) : read;
}

Status run_show_creator(const Frame& frame, const ShowCreatorCommand& command) {
    tell_standstill(frame);
    return with_account(
        frame, command.account, command.list.ledger, ReadFrom::kAnyServer,
        [&](LedgerReader& ledger, AccountNumber account) {
            return write_object(
                command.list.format,
                lists::creator_object(ledger, account, command.account, command.creator, now()));
        });
}

/// Finds the number of the account. Returns kNotFound for an account or program that is unknown,
/// and for a program of another account.
Status check_scope(const Frame& frame, LedgerReader& ledger, const ListCreatorsCommand& command,
                   std::optional<AccountNumber>& account) {
    if (command.account) {
        if (Status known = assign(account, account_number(frame, *command.account)); !known.ok()) {
            return known;
        }
    }
    const auto row = command.program ? ledger.program(*command.program) : std::nullopt;
    if (command.program && !row) {
        return not_found("there is no program " + command.program->str());
    }
    if (row && account && row->program.account != *account) {
        return not_found("account " + command.account->str() + " has no program " +
                         command.program->str());
    }
    return Status::success();
}

Status run_list_creators(const Frame& frame, const ListCreatorsCommand& command) {
    return list_rows(frame, command.list, lists::creator_list().columns(),
                     [&](LedgerReader& ledger, Listing& listing) {
                         std::optional<AccountNumber> account;
                         if (Status known = check_scope(frame, ledger, command, account);
                             !known.ok()) {
                             return known;
                         }
                         lists::write_creators(ledger, account, command.program, now(), listing);
                         return Status::success();
                     });
}

Result<std::string> parse_payee(std::string_view text) {
    if (is_forgotten_payee(text)) {
        return invalid("expected a reference; sha256:... stands for a forgotten one");
    }
    return parse_typed(text);
}

Result<std::string> parse_group(std::string_view text) {
    return text.empty() ? Result<std::string>(std::string()) : parse_admin_id(text);
}

void declare_set(Subcommand group) {
    auto [set, command] =
        add_command(group, "set", "Change a creator's name, payee or group", run_set);
    add_id(set, "C", "C", command.command.creator, "Creator").required();
    add_account(set, command.submit);
    add_value(set, "--name", "N", command.command.name, parse_typed,
              "Name in reports; an empty text removes it");
    add_value(set, "--payee", "REF", command.command.payee, parse_payee,
              "Payee reference, as in the payout destinations; an empty text removes it");
    const Option program =
        add_id(set, "--program", "P", command.command.program, "Program of --group");
    const Option of_group = add_value(set, "--group", "G", command.command.group, parse_group,
                                      "Group in this program; an empty text removes it");
    program.needs(of_group);
    of_group.needs(program);
    set.require([&change = command.command] {
        return change.name || change.payee || change.group ? "" : "--name, --payee or --group";
    });
    add_command_options(set, command.submit, false);
}

void declare_rename(Subcommand group) {
    auto [rename, command] =
        add_command(group, "rename", "Rename a creator; journal entries keep the old id",
                    run_written<CreatorRename>);
    add_id(rename, "OLD", "OLD", command.command.creator, "Creator").required();
    add_id(rename, "NEW", "NEW", command.command.new_name, "New id, which was never used")
        .required();
    add_account(rename, command.submit);
    add_command_options(rename, command.submit, false);
}

/// Counts the orders from the end of the code on that it has attributed to the creator.
std::size_t orders_kept(LedgerReader& ledger, const CreatorRemove& removed, Timestamp at) {
    const std::optional<ProgramRow> program = ledger.program(removed.program);
    if (!program || !removed.code) {
        return 0;
    }
    const AccountNumber account = program->program.account;
    const CreatorId creator = first_id(ledger, account, removed.creator);
    const Digest256 code = code_digest(*removed.code);
    std::size_t kept = 0;
    visit_code_orders(ledger, account, {*removed.code, at, {}}, [&](const OrderState& order) {
        const bool keeps = is_through_code(order, code) &&
                           order.position()->attribution.program == removed.program &&
                           order.position()->attribution.creator == creator;
        kept += keeps ? 1U : 0U;
    });
    return kept;
}

/// Says how many orders keep the code's creator: the end of a code detaches none.
Status run_remove(const Frame& frame, const Written<CreatorRemove>& written) {
    Status removed = run_written<CreatorRemove>(frame, written);
    if (!removed.ok() || !written.command.code || !written.command.at) {
        return removed;
    }
    const std::string at = written.command.at->to_string();
    return with_snapshot(
        frame, written.submit.ledger_url, ReadFrom::kPrimary, [&](LedgerReader& ledger) {
            const std::size_t kept = orders_kept(ledger, written.command, *written.command.at);
            if (kept != 0) {
                std::printf(
                    "%s placed from %s on %s the creator: `sluice detach --code %s --from "
                    "%s --reason TEXT --dry-run` shows their commission\n",
                    counted(kept, "order", "orders").c_str(), at.c_str(),
                    kept == 1 ? "keeps" : "keep",
                    printable(shell_word(*written.command.code)).c_str(), at.c_str());
            }
        });
}

void declare_remove(Subcommand group) {
    auto [remove, command] = add_command(
        group, "remove", "Remove a creator from a program: no new attributions", run_remove);
    add_id(remove, "C", "C", command.command.creator, "Creator").required();
    add_id(remove, "--program", "P", command.command.program, "Program to leave").required();
    const Option code =
        add_value(remove, "--code", "K", command.command.code, parse_code, "Remove this code only");
    add_value(remove, "--at", "T", command.command.at, parse_time,
              "Time when the code ends (RFC 3339; default: now)")
        .needs(code);
    add_command_options(remove, command.submit, false);
}

void declare_creator_listing(Subcommand group) {
    auto [show, shown] = add_command(
        group, "show", "Show a creator with names, programs, codes and holds", run_show_creator);
    add_id(show, "C", "C", shown.creator, "Creator").required();
    add_id(show, "--account", "A", shown.account, "Account").required();
    add_list_options(show, shown.list);

    auto [list, listed] = add_command(group, "list", "List creators with their programs and codes",
                                      run_list_creators);
    add_id(list, "--account", "A", listed.account, "Only creators of this account");
    add_id(list, "--program", "P", listed.program, "Only creators of this program");
    add_list_options(list, listed.list);
}

}  // namespace

void declare_creator(Subcommand app) {
    const Subcommand group =
        app.add_group("creator", "Manage creators: members of programs, owners of codes");
    auto [import, imported] = add_command(
        group, "import",
        "Import creators: creator_id,program_id[,code,group,valid_from,valid_until,name,payee]",
        run_import_creators);
    add_import(import, imported);
    declare_set(group);
    declare_rename(group);
    declare_remove(group);
    declare_creator_listing(group);
    declare_creator_page(group);
}

}  // namespace sluice::cli
