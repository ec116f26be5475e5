// sluice creator import|set|rename|remove|show|list
#include "worker/access/ledger_access.hpp"
#include "worker/cli/cli_values.hpp"
#include "worker/cli/subcommands.hpp"
#include "worker/reports/creators.hpp"
#include "worker/setup/import_file.hpp"

namespace sluice::cli {
namespace {

struct SetCommand {
    CreatorSet set;
    SubmitOptions submit;
};

struct RenameCommand {
    CreatorRename rename;
    SubmitOptions submit;
};

struct RemoveCommand {
    CreatorRemove remove;
    SubmitOptions submit;
};

struct ShowCommand {
    CreatorId creator;
    AccountId account;
    std::string ledger;
    Format format = Format::kTable;
};

struct ListCommand {
    std::optional<ProgramId> program;
    std::string ledger;
    Format format = Format::kTable;
};

/// Columns of creators.csv, in this order.
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
        return Error{ErrorCode::kInvalid, "code: expected at most 1024 bytes"};
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
    if (added.code.empty() && (added.valid_from || added.valid_until)) {
        return Error{ErrorCode::kInvalid, "valid_from, valid_until: expected a code beside them"};
    }
    import.rows.push_back(std::move(added));
    return Status::success();
}

Status run_import(const Frame& frame, const ImportOptions& options) {
    CreatorImport import;
    import.reach = options.reach;
    Status read = read_rows(options.file, creator_columns(),
                            [&](const CsvRow& row) { return add_creator(row, import); });
    return read.ok() ? submit_import(frame, options, import) : read;
}

Status run_set(const Frame& frame, const SetCommand& command) {
    return submit(frame, command.set, command.submit);
}

Status run_rename(const Frame& frame, const RenameCommand& command) {
    return submit(frame, command.rename, command.submit);
}

Status run_remove(const Frame& frame, const RemoveCommand& command) {
    return submit(frame, command.remove, command.submit);
}

Status run_show(const Frame& frame, const ShowCommand& command) {
    const auto account = account_number(frame, command.account);
    if (!account.ok()) {
        return account.error();
    }
    return with_snapshot(frame, command.ledger, [&](LedgerReader& ledger) -> Status {
        const auto shown = creator_object(ledger, *account, command.account, command.creator);
        if (!shown.ok()) {
            return shown.error();
        }
        write_object(command.format, shown.value());
        return Status::success();
    });
}

Status run_list(const Frame& frame, const ListCommand& command) {
    return with_snapshot(frame, command.ledger, [&](LedgerReader& ledger) -> Status {
        if (command.program && !ledger.program(*command.program)) {
            return Error{ErrorCode::kNotFound, "there is no program " + command.program->str()};
        }
        Listing listing(command.format, creator_list_columns());
        write_creators(ledger, command.program, listing);
        listing.finish();
        return Status::success();
    });
}

Result<std::string> parse_code(std::string_view text) {
    if (text.empty()) {
        return Error{ErrorCode::kInvalid, "expected a code that is not empty"};
    }
    return std::string(text);
}

Result<std::string> parse_profile_text(std::string_view text) {
    if (text.size() > kWireIdBytesMax) {
        return Error{ErrorCode::kInvalid, "expected at most 1024 bytes"};
    }
    return std::string(text);
}

Result<std::string> parse_group(std::string_view text) {
    return text.empty() ? Result<std::string>(std::string()) : parse_admin_id(text);
}

void declare_set(Subcommand group) {
    auto [set, command] =
        add_command(group, "set", "Change a creator's name, payee or group", run_set);
    add_id(set, "C", "C", command.set.creator, "The creator").required();
    add_id(set, "--account", "A", command.submit.account.emplace(), "The account").required();
    add_value(set, "--name", "N", command.set.name, parse_profile_text,
              "The name in reports; empty: none");
    add_value(set, "--payee", "REF", command.set.payee, parse_profile_text,
              "Who is paid, as the file of payees names them; empty: nobody");
    const Option program =
        add_id(set, "--program", "P", command.set.program, "The program of --group");
    const Option of_group = add_value(set, "--group", "G", command.set.group, parse_group,
                                      "The group in this program; empty: none");
    program.needs(of_group);
    of_group.needs(program);
    set.require([&change = command.set] {
        return change.name || change.payee || change.group ? "" : "--name, --payee or --group";
    });
    add_command_options(set, command.submit, false);
}

void declare_rename(Subcommand group) {
    auto [rename, command] = add_command(
        group, "rename", "Call a creator by a new id; entries keep the old one", run_rename);
    add_id(rename, "OLD", "OLD", command.rename.creator, "The creator").required();
    add_id(rename, "NEW", "NEW", command.rename.new_name, "An id that was never used").required();
    add_id(rename, "--account", "A", command.submit.account.emplace(), "The account").required();
    add_command_options(rename, command.submit, false);
}

void declare_remove(Subcommand group) {
    auto [remove, command] =
        add_command(group, "remove", "Stop new attributions to a creator", run_remove);
    add_id(remove, "C", "C", command.remove.creator, "The creator").required();
    add_id(remove, "--program", "P", command.remove.program, "The program to leave").required();
    const Option code = add_value(remove, "--code", "K", command.remove.code, parse_code,
                                  "Take only this code away");
    add_value(remove, "--at", "T", command.remove.at, parse_time,
              "When the code ends (RFC 3339; default: now)")
        .needs(code);
    add_command_options(remove, command.submit, false);
}

void declare_listing(Subcommand group) {
    auto [show, shown] =
        add_command(group, "show", "One creator: names, programs, codes, holds", run_show);
    add_id(show, "C", "C", shown.creator, "The creator").required();
    add_id(show, "--account", "A", shown.account, "The account").required();
    add_ledger(show, shown.ledger);
    add_format(show, shown.format);

    auto [list, listed] =
        add_command(group, "list", "List the creators of programs and their codes", run_list);
    add_id(list, "--program", "P", listed.program, "Only of this program");
    add_ledger(list, listed.ledger);
    add_format(list, listed.format);
}

}  // namespace

void declare_creator(Subcommand app) {
    const Subcommand group =
        app.add_group("creator", "Creators: members of programs, owners of codes");
    auto [import, imported] = add_command(
        group, "import",
        "Columns creator_id,program_id; code,group,valid_from,valid_until,name,payee if wanted",
        run_import);
    add_import(import, imported);
    declare_set(group);
    declare_rename(group);
    declare_remove(group);
    declare_listing(group);
}

}  // namespace sluice::cli
