// sluice creator import|remove, touch import
#include "worker/access/ledger_access.hpp"
#include "worker/access/submit.hpp"
#include "worker/cli/cli_values.hpp"
#include "worker/cli/csv_reader.hpp"
#include "worker/cli/subcommands.hpp"
#include "worker/system/file.hpp"

namespace sluice::cli {
namespace {

struct ImportCommand {
    std::string file;
    std::string ledger;
    bool no_wait = false;
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

Status run_touch_import(const Frame& frame, const ImportCommand& command) {
    TouchImport import;
    Status read =
        read_rows(command.file, {"svc_anon_id", "creator_id", "program_id", "occurred_at"},
                  [&](const CsvRow& row) { return add_touch(row, import); });
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

void declare_import(CLI::App& group, Frame& frame, const std::string& description,
                    Status (*run)(const Frame&, const ImportCommand&)) {
    CLI::App& import = add_command(group, "import", description);
    ImportCommand& command = on_run(import, frame, run);
    import.add_option("FILE", command.file, "FILE.csv; all of it is taken, or nothing")
        ->required()
        ->type_name("");
    add_ledger(import, command.ledger);
    add_no_wait(import, command.no_wait);
}

}  // namespace

void declare_creator(CLI::App& app, Frame& frame) {
    CLI::App& creator = add_group(app, "creator", "Creators: members of programs, owners of codes");
    declare_import(creator, frame, "Columns creator_id,program_id,code (code may be empty)",
                   run_creator_import);
    CLI::App& remove = add_command(creator, "remove", "Stop new attributions to a creator");
    RemoveCommand& command = on_run(remove, frame, run_remove);
    add_id(remove, "C", "C", command.remove.creator, "The creator").required();
    add_id(remove, "--program", "P", command.remove.program, "The program to leave").required();
    add_value(remove, "--code", "K", command.remove.code, parse_code, "Take only this code away");
    add_ledger(remove, command.ledger);

    CLI::App& touch = add_group(app, "touch", "Touches: which device came through whose link");
    declare_import(touch, frame, "Columns svc_anon_id,creator_id,program_id,occurred_at",
                   run_touch_import);
}

}  // namespace sluice::cli
