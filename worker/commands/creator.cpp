// sluice creator import|remove, touch import
#include <cstdio>
#include <map>

#include "worker/access/ledger_access.hpp"
#include "worker/access/submit.hpp"
#include "worker/cli/cli_values.hpp"
#include "worker/cli/csv_reader.hpp"
#include "worker/cli/output.hpp"
#include "worker/cli/subcommands.hpp"
#include "worker/system/file.hpp"

namespace sluice::cli {
namespace {

struct ImportCommand {
    std::string file;
    std::string ledger;
    bool no_wait = false;
};

struct TouchCommand {
    ImportCommand import;
    bool strict = false;
};

struct ListCommand {
    std::optional<ProgramId> program;
    std::string ledger;
    Format format = Format::kTable;
};

struct RemoveCommand {
    CreatorRemove remove;
    std::string ledger;
};

/// Reads every row of a CSV file and gives it to `add`, which returns an error for a wrong row.
Status read_rows(const std::string& file, const std::vector<std::string>& columns,
                 const std::function<Status(const CsvRow&)>& add) {
    auto input = open_for_reading(file);
    if (!input.ok()) {
        return input.error();
    }
    auto table = CsvTable::open(input->get(), file, columns);
    if (!table.ok()) {
        return table.error();
    }
    CsvRow row;
    while (true) {
        auto got = table->next(row);
        if (!got.ok()) {
            return got.error();
        }
        if (!got.value()) {
            return Status::success();
        }
        if (Status added = add(row); !added.ok()) {
            return table->error_at(row.line, added.error().message);
        }
    }
}

/// A rule that refuses a row says `line N: ...`; this puts the file's name in front of it.
Status submit_file(const Frame& frame, const ImportCommand& options, const Command& command) {
    Status done = submit(frame, command, {std::nullopt, options.ledger, options.no_wait});
    constexpr std::string_view kLine = "line ";
    if (done.ok() || !std::string_view(done.error().message).starts_with(kLine)) {
        return done;
    }
    return Error{done.error().code, options.file + ":" + done.error().message.substr(kLine.size())};
}

template <class Id>
Status take_id(const std::string& column, const std::string& text, Id& id) {
    if (!is_admin_id(text)) {
        return Error{ErrorCode::kInvalid,
                     column + ": expected 1 to 128 of A-Z a-z 0-9 . _ - : @ + / ="};
    }
    id = Id(text);
    return Status::success();
}

Status add_creator(const CsvRow& row, CreatorImport& import) {
    CreatorImport::Row added;
    added.line = static_cast<std::uint32_t>(row.line);
    Status known = take_id("creator_id", row.fields[0], added.creator);
    known = known.ok() ? take_id("program_id", row.fields[1], added.program) : known;
    if (!known.ok()) {
        return known;
    }
    added.code = row.fields[2];
    if (added.code.size() > kWireIdBytesMax) {
        return Error{ErrorCode::kInvalid, "code: expected at most 1024 bytes"};
    }
    import.rows.push_back(std::move(added));
    return Status::success();
}

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

Status run_creator_import(const Frame& frame, const ImportCommand& command) {
    CreatorImport import;
    Status read = read_rows(command.file, {"creator_id", "program_id", "code"},
                            [&](const CsvRow& row) { return add_creator(row, import); });
    return read.ok() ? submit_file(frame, command, import) : read;
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
            const auto program = ledger.program(row.program);
            const auto member =
                program ? ledger.membership(program->program.account, row.program, row.creator)
                        : std::nullopt;
            place->second = member && !member->removed;
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
    Status read = with_snapshot(frame, command.import.ledger, [&](LedgerReader& ledger) {
        strangers = warn_of_strangers(ledger, command.import.file, import);
        return Status::success();
    });
    if (!read.ok() || strangers == 0 || !command.strict) {
        return read;
    }
    return Error{ErrorCode::kInvalid, command.import.file + ": " + std::to_string(strangers) +
                                          " touches of creators who are in no such program; "
                                          "nothing was imported"};
}

Status run_creator_list(const Frame& frame, const ListCommand& command) {
    return with_snapshot(frame, command.ledger, [&](LedgerReader& ledger) -> Status {
        std::vector<ProgramRow> programs;
        ledger.scan_programs([&](const ProgramRow& row) {
            if (!command.program || row.program.id == *command.program) {
                programs.push_back(row);
            }
            return true;
        });
        if (command.program && programs.empty()) {
            return Error{ErrorCode::kNotFound, "there is no program " + command.program->str()};
        }
        Listing listing(command.format, {{"creator_id"}, {"program_id"}, {"codes"}, {"removed"}});
        for (const ProgramRow& row : programs) {
            std::map<CreatorId, Json> codes;
            ledger.scan_codes(row.program.account, row.program.id, [&](const CodeRow& code) {
                codes[code.creator].push_back(code.code);
                return true;
            });
            ledger.scan_memberships(
                row.program.account, row.program.id, [&](const Membership& member) {
                    const auto own = codes.find(member.creator);
                    listing.add({{"creator_id", member.creator.str()},
                                 {"program_id", row.program.id.str()},
                                 {"codes", own == codes.end() ? Json::array() : own->second},
                                 {"removed", member.removed}});
                    return true;
                });
        }
        listing.finish();
        return Status::success();
    });
}

Status run_touch_import(const Frame& frame, const TouchCommand& touches) {
    const ImportCommand& command = touches.import;
    TouchImport import;
    Status read =
        read_rows(command.file, {"svc_anon_id", "creator_id", "program_id", "occurred_at"},
                  [&](const CsvRow& row) { return add_touch(row, import); });
    read = read.ok() ? check_strangers(frame, touches, import) : read;
    return read.ok() ? submit_file(frame, command, import) : read;
}

Status run_remove(const Frame& frame, const RemoveCommand& command) {
    return submit(frame, command.remove, {std::nullopt, command.ledger});
}

Result<std::string> parse_code(std::string_view text) {
    if (text.empty()) {
        return Error{ErrorCode::kInvalid, "expected a code that is not empty"};
    }
    return std::string(text);
}

void declare_import(CLI::App& import, ImportCommand& command) {
    import.add_option("FILE", command.file, "FILE.csv; all of it is taken, or nothing")
        ->required()
        ->type_name("");
    add_ledger(import, command.ledger);
    add_no_wait(import, command.no_wait);
}

}  // namespace

void declare_creator(CLI::App& app, Frame& frame) {
    CLI::App& creator = add_group(app, "creator", "Creators: members of programs, owners of codes");
    CLI::App& creators =
        add_command(creator, "import", "Columns creator_id,program_id,code (code may be empty)");
    declare_import(creators, on_run(creators, frame, run_creator_import));
    CLI::App& list = add_command(creator, "list", "List the creators of programs and their codes");
    ListCommand& listed = on_run(list, frame, run_creator_list);
    add_id(list, "--program", "P", listed.program, "Only of this program");
    add_ledger(list, listed.ledger);
    add_format(list, listed.format);
    CLI::App& remove = add_command(creator, "remove", "Stop new attributions to a creator");
    RemoveCommand& command = on_run(remove, frame, run_remove);
    add_id(remove, "C", "C", command.remove.creator, "The creator").required();
    add_id(remove, "--program", "P", command.remove.program, "The program to leave").required();
    add_value(remove, "--code", "K", command.remove.code, parse_code, "Take only this code away");
    add_ledger(remove, command.ledger);

    CLI::App& touch = add_group(app, "touch", "Touches: which device came through whose link");
    CLI::App& touches =
        add_command(touch, "import", "Columns svc_anon_id,creator_id,program_id,occurred_at");
    TouchCommand& imported = on_run(touches, frame, run_touch_import);
    declare_import(touches, imported.import);
    touches.add_flag("--strict", imported.strict,
                     "Import nothing if a creator is not in the program (default: warn)");
}

}  // namespace sluice::cli
