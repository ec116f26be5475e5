// sluice touch import|list
#include <cstdio>
#include <map>

#include "core/protocol/signature.hpp"
#include "core/rules/creator_names.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/cli/cli_values.hpp"
#include "worker/cli/output.hpp"
#include "worker/cli/subcommands.hpp"
#include "worker/reports/accounts.hpp"
#include "worker/setup/import_file.hpp"

namespace sluice::cli {
namespace {

struct TouchCommand {
    ImportOptions import;
    bool strict = false;
};

struct ListCommand {
    AccountId account;
    std::optional<ProgramId> program;
    std::optional<CreatorId> creator;
    std::string ledger;
    Format format = Format::kTable;
};

Status add_touch(const CsvRow& row, TouchImport& import) {
    TouchImport::Row added;
    added.line = static_cast<std::uint32_t>(row.line);
    if (row.fields[0].empty() || row.fields[0].size() > kWireIdBytesMax) {
        return Error{ErrorCode::kInvalid, "svc_anon_id: expected 1 to 1024 bytes"};
    }
    added.anon = AnonId(row.fields[0]);
    Status known = take_id("creator_id", row.fields[1], added.creator);
    known = known.ok() ? take_id("program_id", row.fields[2], added.program) : known;
    if (!known.ok()) {
        return known;
    }
    const auto occurred_at = parse_time(row.fields[3]);
    if (!occurred_at.ok()) {
        return Error{ErrorCode::kInvalid, "occurred_at: " + occurred_at.error().message};
    }
    added.occurred_at = occurred_at.value();
    import.rows.push_back(std::move(added));
    return Status::success();
}

bool is_member(LedgerReader& ledger, const TouchImport::Row& row) {
    const auto program = ledger.program(row.program);
    if (!program) {
        return false;
    }
    const AccountNumber account = program->program.account;
    const auto member =
        ledger.membership(account, row.program, first_id(ledger, account, row.creator));
    return member && !member->removed;
}

/// Touches of creators who are in no such program count only if they join later: more often than
/// not it is a misspelling. @return how many touches there are of them; each is told once.
std::size_t warn_of_strangers(LedgerReader& ledger, const std::string& file,
                              const TouchImport& import) {
    std::map<std::pair<ProgramId, CreatorId>, bool> known;
    std::size_t strangers = 0;
    for (const TouchImport::Row& row : import.rows) {
        const auto [place, first] = known.try_emplace({row.program, row.creator}, false);
        if (first) {
            place->second = is_member(ledger, row);
        }
        strangers += place->second ? 0U : 1U;
        if (first && !place->second) {
            std::fprintf(stderr, "%s:%u: creator %s is not in program %s\n",
                         printable(file).c_str(), row.line, row.creator.str().c_str(),
                         row.program.str().c_str());
        }
    }
    return strangers;
}

Status check_strangers(const Frame& frame, const TouchCommand& command, const TouchImport& import) {
    std::size_t strangers = 0;
    const ImportOptions& options = command.import;
    Status read = with_snapshot(
        frame, options.submit.ledger_url,
        [&](LedgerReader& ledger) {
            strangers = warn_of_strangers(ledger, options.file, import);
            return Status::success();
        },
        ReadFrom::kPrimary);
    if (!read.ok() || strangers == 0 || !command.strict) {
        return read;
    }
    return Error{ErrorCode::kInvalid, options.file + ": " + std::to_string(strangers) +
                                          " touches of creators who are in no such program; "
                                          "nothing was imported"};
}

Status run_import(const Frame& frame, const TouchCommand& touches) {
    const ImportOptions& options = touches.import;
    TouchImport import;
    import.reach = options.reach;
    Status read =
        read_rows(options.file, {{"svc_anon_id", "creator_id", "program_id", "occurred_at"}},
                  [&](const CsvRow& row) { return add_touch(row, import); });
    read = read.ok() ? check_strangers(frame, touches, import) : read;
    return read.ok() ? submit_import(frame, options, import) : read;
}

/// The ledger knows devices by digest alone.
Status run_list(const Frame& frame, const ListCommand& command) {
    const auto account = account_number(frame, command.account);
    if (!account.ok()) {
        return account.error();
    }
    return with_snapshot(frame, command.ledger, [&](LedgerReader& ledger) {
        Listing listing(command.format, {{"device_sha256"},
                                         {"program_id"},
                                         {"creator_id"},
                                         {"occurred_at"},
                                         {"counts_from"},
                                         {"event_seq", Align::kRight, false}});
        const auto creator = command.creator
                                 ? std::optional(first_id(ledger, *account, *command.creator))
                                 : std::nullopt;
        const CreatorNames names(ledger);
        Touch first;
        first.account = *account;
        ledger.scan(first, {1, 1}, [&](const Touch& touch) {
            if ((command.program && touch.program != *command.program) ||
                (creator && touch.creator != *creator)) {
                return true;
            }
            listing.add({{"device_sha256", to_hex(touch.anon)},
                         {"program_id", touch.program.str()},
                         {"creator_id", names.shown(touch.account, touch.creator).str()},
                         {"occurred_at", touch.occurred_at.to_string()},
                         {"counts_from", touch.reach.to_string()},
                         {"event_seq", touch.imported.value}});
            return true;
        });
        listing.finish();
        return Status::success();
    });
}

}  // namespace

void declare_touch(Subcommand app) {
    const Subcommand touch =
        app.add_group("touch", "Touches: which device came through whose link");
    auto [touches, imported] = add_command(
        touch, "import", "Columns svc_anon_id,creator_id,program_id,occurred_at", run_import);
    add_import(touches, imported.import);
    add_flag(touches, "--strict", imported.strict,
             "Import nothing if a creator is not in the program (default: warn)");

    auto [list, listed] = add_command(touch, "list", "List the touches of an account", run_list);
    add_id(list, "--account", "A", listed.account, "The account").required();
    add_id(list, "--program", "P", listed.program, "Only of this program");
    add_id(list, "--creator", "C", listed.creator, "Only of this creator");
    add_ledger(list, listed.ledger);
    add_format(list, listed.format);
}

}  // namespace sluice::cli
