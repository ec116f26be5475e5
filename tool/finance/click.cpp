// sluice click import|list
#include <cstdio>
#include <map>
#include <set>

#include "core/explain/node_names.hpp"
#include "core/lists/names.hpp"
#include "core/protocol/personal_ids.hpp"
#include "core/protocol/signature.hpp"
#include "core/rules/account.hpp"
#include "core/values/lookup.hpp"
#include "program/cli/cli_values.hpp"
#include "program/cli/output.hpp"
#include "program/cli/spelling.hpp"
#include "program/commands.hpp"
#include "tool/setup/import.hpp"
#include "worker/access/ledger_access.hpp"

namespace sluice::cli {
namespace {

struct ClickCommand {
    ImportOptions import;
    bool strict = false;
};

struct ListClicksCommand : AccountListOptions {
    std::optional<ProgramId> program;
    std::optional<CreatorId> creator;
};

Status add_click(const CsvRow& row, ClickImport& import) {
    ClickImport::Row added;
    added.line = static_cast<std::uint32_t>(row.line);
    if (row.fields[0].empty() || row.fields[0].size() > kWireIdBytesMax) {
        return invalid("svc_anon_id: expected 1 to 1024 bytes");
    }
    added.device = anon_digest(row.fields[0]);
    Status known = take_id("creator_id", row.fields[1], added.creator);
    known = known.ok() ? take_id("program_id", row.fields[2], added.program) : known;
    if (!known.ok()) {
        return known;
    }
    const auto occurred_at = parse_time(row.fields[3]);
    if (!occurred_at.ok()) {
        return invalid("occurred_at: " + occurred_at.error().message);
    }
    note_missing_offset(row.fields[3]);
    added.occurred_at = occurred_at.value();
    import.rows.push_back(std::move(added));
    return Status::success();
}

bool is_member(LedgerReader& ledger, const ClickImport::Row& row) {
    const auto program = ledger.program(row.program);
    if (!program) {
        return false;
    }
    const AccountNumber account = program->program.account;
    const auto member =
        ledger.membership(account, row.program, first_id(ledger, account, row.creator));
    return member && !member->removed;
}

/// Warns once about each creator who is not in the program, which is usually a misspelling. Their
/// clicks count only if they join later. @return the number of these clicks.
std::size_t warn_unknown_ids(LedgerReader& ledger, const std::string& file,
                             const ClickImport& import) {
    std::map<std::pair<ProgramId, CreatorId>, bool> known;
    std::size_t unknown = 0;
    for (const ClickImport::Row& row : import.rows) {
        const auto [place, first] = known.try_emplace({row.program, row.creator}, false);
        if (first) {
            place->second = is_member(ledger, row);
        }
        unknown += place->second ? 0U : 1U;
        if (first && !place->second) {
            std::fprintf(stderr, "%s:%u: creator %s is not in program %s\n",
                         printable(file).c_str(), row.line, row.creator.str().c_str(),
                         row.program.str().c_str());
        }
    }
    return unknown;
}

Status check_creators(const Frame& frame, const ClickCommand& command, const ClickImport& import) {
    std::size_t unknown = 0;
    const ImportOptions& options = command.import;
    Status read = with_snapshot(
        frame, options.submit.ledger_url, ReadFrom::kPrimary,
        [&](LedgerReader& ledger) { unknown = warn_unknown_ids(ledger, options.file, import); });
    if (!read.ok() || unknown == 0 || !command.strict) {
        return read;
    }
    return invalid(options.file + ": " + std::to_string(unknown) +
                   " clicks of creators who are in no such program; "
                   "nothing was imported");
}

Status run_import_clicks(const Frame& frame, const ClickCommand& clicks) {
    const ImportOptions& options = clicks.import;
    ClickImport import;
    import.effective_from = options.effective_from;
    Status read =
        read_rows(options.file, {{"svc_anon_id", "creator_id", "program_id", "occurred_at"}},
                  [&](const CsvRow& row) { return add_click(row, import); });
    read = read.ok() ? check_creators(frame, clicks, import) : read;
    return read.ok() ? submit_import(frame, options, import) : read;
}

/// Lists clicks. The ledger stores devices as digests only.
Status run_list_clicks(const Frame& frame, const ListClicksCommand& command) {
    return list_account_rows(
        frame, command,
        left("device_sha256 program_id creator_id occurred_at effective_from") +
            in_files("event_seq", Align::kRight) + in_files("node"),
        [&](LedgerReader& ledger, AccountNumber account, Listing& listing) {
            const auto creator = command.creator
                                     ? std::optional(first_id(ledger, account, *command.creator))
                                     : std::nullopt;
            const lists::CreatorNames names(ledger, account);
            const Click first{account};
            std::set<SequenceNumber> imports;
            ledger.scan(first, {1, 1},
                        [&imports](const Click& click) { imports.insert(click.imported); });
            const auto inputs = inputs_at(ledger, imports);
            ledger.scan(first, {1, 1}, [&](const Click& click) {
                const auto* const input = find_value(inputs, click.imported);
                if ((!command.program || click.program == *command.program) &&
                    (!creator || click.creator == *creator)) {
                    listing.add({to_hex(click.anon), click.program.str(),
                                 names.shown(click.account, click.creator).str(),
                                 click.occurred_at.to_string(), click.effective_from.to_string(),
                                 input != nullptr ? Json(input->seq.value) : Json(),
                                 input != nullptr ? Json(input->node) : Json()});
                }
            });
        });
}

}  // namespace

void declare_click(Subcommand app) {
    const Subcommand click =
        app.add_group("click", "Manage clicks: which device came through which creator's link");
    auto [clicks, imported] = add_command(
        click, "import", "Import clicks: columns svc_anon_id,creator_id,program_id,occurred_at",
        run_import_clicks);
    add_import(clicks, imported.import);
    add_flag(clicks, "--strict", imported.strict,
             "Refuse the import if a creator is not in the program (default: warn)");

    auto [list, listed] =
        add_command(click, "list", "List the clicks of an account", run_list_clicks);
    add_id(list, "--account", "A", listed.account, "Account").required();
    add_id(list, "--program", "P", listed.program, "Only clicks of this program");
    add_id(list, "--creator", "C", listed.creator, "Only clicks of this creator");
    add_list_options(list, listed.list);
}

}  // namespace sluice::cli
