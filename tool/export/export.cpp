// sluice export

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <utility>

#include "core/exports/tables.hpp"
#include "core/lists/changes.hpp"
#include "core/lists/report.hpp"
#include "core/values/payee_mask.hpp"
#include "os/clock/clock.hpp"
#include "program/cli/cli_values.hpp"
#include "program/commands.hpp"
#include "serve/read/cursor.hpp"
#include "tool/export/table_files.hpp"
#include "tool/reports/report_options.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/access/registry_access.hpp"

namespace sluice::cli {
namespace {

constexpr int kManifestVersion = 1;

struct ExportCommand {
    std::string folder, ledger, since;
    TableFilesOptions files;
};

/// Passes each line to the files of its table, and keeps the first error.
class ExportFiles final : public exports::ExportOutput {
public:
    ExportFiles(OutputFolder& folder, const TableFilesOptions& options,
                const std::vector<const exports::ExportTable*>& tables) {
        for (const exports::ExportTable* const table : tables) {
            tables_.emplace_back(folder, options, *table);
        }
    }

    bool add(const exports::ExportTable& table, std::string_view line) override {
        const auto files = std::ranges::find_if(
            tables_, [&table](const TableFiles& one) { return &one.table() == &table; });
        status_ = files->add(line);
        return status_.ok();
    }
    [[nodiscard]] Status finish() {
        for (TableFiles& table : tables_) {
            status_ = status_.ok() ? table.finish() : status_;
        }
        return status_;
    }
    [[nodiscard]] const std::vector<TableFiles>& tables() const noexcept { return tables_; }

private:
    std::vector<TableFiles> tables_;
    Status status_ = Status::success();
};

Json columns_json(const exports::ExportTable& table) {
    return Json::list(table.columns, [](const lists::Column& column) -> Json {
        return {{"name", column.name}, {"type", type_names(column.type).manifest}};
    });
}

Json file_json(const ExportFile& file, const Json& table) {
    return {{"name", file.name},
            {"table", table},
            {"rows", table.is_null() ? Json() : Json(file.rows)},
            {"bytes", file.bytes},
            {"sha256", file.sha256}};
}

Json snapshot_json(LedgerReader& ledger) {
    Json nodes = Json::array();
    ledger.scan_heads([&nodes](const LedgerHead& head) {
        nodes.push_back({{"node", head.node},
                         {"number", head.number},
                         {"applied_seq", head.applied_seq.value}});
    });
    return nodes;
}

/// An account whose rows or changes are exported, with the place after its last change.
struct ExportedAccount {
    AccountNumber number;
    AccountId id;
    lists::FeedPlace end;
};

/// The content of an export: every account of a snapshot, or one account's changes since a place.
struct Exported {
    std::vector<ExportedAccount> accounts;
    std::optional<lists::FeedPlace> since;
};

/// Finds the account that a cursor was made for, and checks that its chains are the ledger's.
Result<Exported> find_since(Exported every, LedgerReader& ledger, const std::string& cursor) {
    for (ExportedAccount& account : every.accounts) {
        auto since = serve::open_feed_cursor(account.number, cursor);
        if (!since) {
            continue;
        }
        if (lists::changes_after(ledger, account.number, *since, 1, 1).diverged) {
            return conflict(
                "the ledger is not the one of the cursor of --since: it was restored from "
                "an older backup and has gone another way; export everything again, "
                "without --since");
        }
        return Exported{{std::move(account)}, std::move(since)};
    }
    return invalid(
        "--since is not a cursor of this store: use next_cursor of an export's "
        "manifest.json, or next of /v1/changes");
}

Result<Exported> find_exported(const ExportCommand& command, LedgerReader& ledger) {
    std::map<AccountNumber, lists::FeedPlace> ends = lists::ends_of_feeds(ledger);
    Exported every;
    for (const auto& [number, id] : lists::account_ids(ledger)) {
        every.accounts.push_back({number, id, std::move(ends[number])});
    }
    return command.since.empty() ? Result(std::move(every))
                                 : find_since(std::move(every), ledger, command.since);
}

Json accounts_json(const Exported& exported) {
    return Json::list(exported.accounts, [](const ExportedAccount& account) -> Json {
        return {{"account_id", account.id.str()},
                {"next_cursor", serve::feed_cursor(account.number, account.end)}};
    });
}

/// Describes every file of the folder but itself.
Json manifest_of(const ExportCommand& command, const Exported& exported, LedgerReader& ledger,
                 Timestamp at, const std::vector<TableFiles>& tables,
                 const std::vector<ExportFile>& scripts) {
    Json listed = Json::array();
    Json files = Json::array();
    for (const TableFiles& table : tables) {
        listed.push_back({{"name", table.table().name},
                          {"rows", table.rows()},
                          {"columns", columns_json(table.table())}});
        for (const ExportFile& file : table.files()) {
            files.push_back(file_json(file, table.table().name));
        }
    }
    for (const ExportFile& script : scripts) {
        files.push_back(file_json(script, {}));
    }
    return {{"format_version", kManifestVersion},
            {"format", command.files.format == exports::ExportFormat::kCsv ? "csv" : "ndjson"},
            {"compression", command.files.zstd ? Json("zstd") : Json()},
            {"as_of", at.to_string()},
            {"snapshot", snapshot_json(ledger)},
            {"since", exported.since ? Json(command.since) : Json()},
            {"accounts", accounts_json(exported)},
            {"tables", std::move(listed)},
            {"files", std::move(files)}};
}

/// Writes the rows. ExportFiles keeps the error of a file.
void write_rows(const ExportCommand& command, const Exported& exported, LedgerReader& ledger,
                Timestamp at, ExportFiles& files) {
    if (!exported.since) {
        static_cast<void>(exports::write_tables(ledger, command.files.format, at, files));
        return;
    }
    static_cast<void>(exports::write_changes(
        ledger, command.files.format,
        {exported.accounts.front().number, *exported.since, masked_payee}, files));
}

Status write_export(const ExportCommand& command, const Exported& exported, LedgerReader& ledger,
                    OutputFolder& folder) {
    const Timestamp at = now();
    ExportFiles files(folder, command.files,
                      exported.since ? exports::change_tables() : exports::snapshot_tables());
    write_rows(command, exported, ledger, at, files);
    if (Status finished = files.finish(); !finished.ok()) {
        return finished;
    }
    const auto duckdb = exported.since ? duckdb_changes_script : duckdb_script;
    const auto clickhouse = exported.since ? clickhouse_changes_script : clickhouse_script;
    std::vector<ExportFile> scripts;
    for (const auto& [name, text] :
         {std::pair<const char*, std::string>{"duckdb.sql", duckdb(files.tables(), command.files)},
          {"clickhouse.sql", clickhouse(files.tables(), command.files)}}) {
        const auto script = write_whole(folder, name, text);
        if (!script.ok()) {
            return script.error();
        }
        scripts.push_back(*script);
    }
    const Json manifest = manifest_of(command, exported, ledger, at, files.tables(), scripts);
    const auto written = write_whole(folder, "manifest.json", manifest.pretty() + "\n");
    if (!written.ok()) {
        return written.error();
    }
    folder.keep();
    const std::uint64_t rows = sum_of(files.tables(), &TableFiles::rows);
    std::printf("%s rows of %zu tables written to %s\n", grouped(rows).c_str(),
                files.tables().size(), printable(command.folder).c_str());
    return Status::success();
}

Status run_export(const Frame& frame, const ExportCommand& command) {
    tell_standstill(frame);
    return with_snapshot(frame, command.ledger, [&](LedgerReader& ledger) -> Status {
        const auto exported = find_exported(command, ledger);
        auto folder = exported.ok() ? OutputFolder::open(command.folder) : exported.error();
        return folder.ok() ? write_export(command, *exported, ledger, *folder) : folder.error();
    });
}

}  // namespace

void declare_export_tables(Subcommand app) {
    const auto added = add_command(
        app, "export", "Write the tables of one snapshot to files, for databases of analysts",
        run_export);
    const Subcommand exported = added.first;
    auto& command = added.second;
    add_file(exported, "FOLDER", "FOLDER", command.folder, FileUse::kOutputFolder,
             "Folder of the files; it must be new or empty");
    exported.require([&command] { return command.folder.empty() ? "FOLDER" : ""; });
    add_word<exports::ExportFormat>(
        exported, "--format", command.files.format,
        {{"ndjson", exports::ExportFormat::kNdjson}, {"csv", exports::ExportFormat::kCsv}},
        "Format of the files (default: ndjson)");
    add_flag(exported, "--zstd", command.files.zstd, "Compress the files with Zstandard");
    add_text(exported, "--since", "CURSOR", command.since,
             "Write one account's changes after a cursor: next_cursor of a manifest, or next of "
             "/v1/changes");
    add_ledger(exported, command.ledger);
    declare_export_journal(exported);
}

}  // namespace sluice::cli
