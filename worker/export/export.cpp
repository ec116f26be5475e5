// sluice export

#include <cstdio>

#include "core/exports/tables.hpp"
#include "os/clock/clock.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/cli/cli_values.hpp"
#include "worker/commands.hpp"
#include "worker/export/table_files.hpp"
#include "worker/finance/finance.hpp"

namespace sluice::cli {
namespace {

constexpr int kManifestVersion = 1;

struct ExportCommand {
    std::string folder, ledger;
    exports::ExportFormat format = exports::ExportFormat::kNdjson;
    bool zstd = false;
};

/// Passes each line to the files of its table, and keeps the first error.
class ExportFiles final : public exports::ExportOutput {
public:
    ExportFiles(OutputFolder& folder, const TableFilesOptions& options) {
        for (const exports::ExportTable& table : exports::export_tables()) {
            tables_.emplace_back(folder, options, table);
        }
    }

    bool add(exports::ExportTableId table, std::string_view line) override {
        status_ = tables_[static_cast<std::size_t>(table)].add(line);
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

std::string_view to_string(exports::ColumnType type) {
    using enum exports::ColumnType;
    switch (type) {
        case kText:
            return "text";
        case kTexts:
            return "texts";
        case kInteger:
            return "integer";
        case kAmount:
            return "amount";
        case kFlag:
            return "flag";
        case kTime:
            return "time";
        case kJson:
            return "json";
    }
    return {};
}

Json columns_json(const exports::ExportTable& table) {
    Json columns = Json::array();
    for (const exports::ExportColumn& column : table.columns) {
        columns.push_back({{"name", column.name}, {"type", to_string(column.type)}});
    }
    return columns;
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
        return true;
    });
    return nodes;
}

/// Describes every file of the folder but itself.
Json manifest_of(const ExportCommand& command, LedgerReader& ledger, Timestamp at,
                 const std::vector<TableFiles>& tables, const std::vector<ExportFile>& scripts) {
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
            {"format", command.format == exports::ExportFormat::kCsv ? "csv" : "ndjson"},
            {"compression", command.zstd ? Json("zstd") : Json()},
            {"as_of", at.to_string()},
            {"snapshot", snapshot_json(ledger)},
            {"tables", std::move(listed)},
            {"files", std::move(files)}};
}

Status write_export(const ExportCommand& command, LedgerReader& ledger, OutputFolder& folder) {
    const Timestamp at = now();
    const TableFilesOptions options{
        command.format, command.zstd ? Compression::kZstd : Compression::kNone, kExportRowsMax};
    ExportFiles files(folder, options);
    static_cast<void>(exports::write_tables(ledger, command.format, at, files));
    if (Status finished = files.finish(); !finished.ok()) {
        return finished;
    }
    std::vector<ExportFile> scripts;
    for (const auto& [name, text] :
         {std::pair<const char*, std::string>{"duckdb.sql", duckdb_script(files.tables(), options)},
          {"clickhouse.sql", clickhouse_script(files.tables(), options)}}) {
        const auto script = write_whole(folder, name, text);
        if (!script.ok()) {
            return script.error();
        }
        scripts.push_back(*script);
    }
    const Json manifest = manifest_of(command, ledger, at, files.tables(), scripts);
    const auto written = write_whole(folder, "manifest.json", manifest.pretty() + "\n");
    if (!written.ok()) {
        return written.error();
    }
    folder.keep();
    std::uint64_t rows = 0;
    for (const TableFiles& table : files.tables()) {
        rows += table.rows();
    }
    std::printf("%s rows of %zu tables written to %s\n", grouped(rows).c_str(),
                files.tables().size(), printable(command.folder).c_str());
    return Status::success();
}

Status run_export(const Frame& frame, const ExportCommand& command) {
    auto folder = OutputFolder::open(command.folder);
    if (!folder.ok()) {
        return folder.error();
    }
    return with_snapshot(frame, command.ledger, [&](LedgerReader& ledger) {
        return write_export(command, ledger, *folder);
    });
}

Result<exports::ExportFormat> parse_export_format(std::string_view text) {
    if (text == "ndjson") {
        return exports::ExportFormat::kNdjson;
    }
    if (text == "csv") {
        return exports::ExportFormat::kCsv;
    }
    return Error{ErrorCode::kInvalid, "expected ndjson or csv"};
}

}  // namespace

void declare_export_tables(Subcommand app) {
    auto [exported, command] = add_command(
        app, "export", "Write the tables of one snapshot to files, for databases of analysts",
        run_export);
    add_file(exported, "FOLDER", "FOLDER", command.folder, FileUse::kOutputFolder,
             "Folder of the files; it must be new or empty");
    exported.require([&command] { return command.folder.empty() ? "FOLDER" : ""; });
    add_value(exported, "--format", "ndjson|csv", command.format, parse_export_format,
              "Format of the files (default: ndjson)");
    add_flag(exported, "--zstd", command.zstd, "Compress the files with Zstandard");
    add_ledger(exported, command.ledger);
    declare_export_journal(exported);
}

}  // namespace sluice::cli
