// Table files: the lines of each table in files of a limited number of rows, with their digests,
// and the scripts that load them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/exports/line.hpp"
#include "core/exports/tables.hpp"
#include "core/values/result.hpp"
#include "program/system/output_folder.hpp"

namespace sluice::cli {

inline constexpr std::uint64_t kExportRowsMax = 1'000'000;  ///< In a file.

/// A file that is complete and in place.
struct ExportFile {
    std::string name;
    std::uint64_t rows = 0, bytes = 0;
    std::string sha256;  ///< Digest of the stored bytes.
};

struct TableFilesOptions {
    exports::ExportFormat format = exports::ExportFormat::kNdjson;
    bool zstd = false;  ///< Compressed with Zstandard.
    std::uint64_t rows_max = kExportRowsMax;
};

/// Writes the files of a table: orders-0001.ndjson, orders-0002.ndjson ... At most one is open.
class TableFiles {
public:
    /// @param folder  Outlives this object.
    TableFiles(OutputFolder& folder, const TableFilesOptions& options,
               const exports::ExportTable& table);
    TableFiles(TableFiles&&) noexcept;
    ~TableFiles();

    /// Adds a row. The row's text ends with a line feed.
    [[nodiscard]] Status add(std::string_view line);
    /// Completes the last file. A table without rows has one file, which a loader needs.
    [[nodiscard]] Status finish();

    [[nodiscard]] const exports::ExportTable& table() const noexcept { return *table_; }
    [[nodiscard]] const std::vector<ExportFile>& files() const noexcept { return files_; }
    [[nodiscard]] std::uint64_t rows() const noexcept;

private:
    class Writer;

    [[nodiscard]] Status begin();
    [[nodiscard]] Status end();

    OutputFolder* folder_;
    TableFilesOptions options_;
    const exports::ExportTable* table_;
    std::string header_;
    std::unique_ptr<Writer> writer_;  ///< The last file's, until it is complete.
    std::vector<ExportFile> files_;
};

/// Writes a small file at once.
[[nodiscard]] Result<ExportFile> write_whole(OutputFolder& folder, const std::string& name,
                                             std::string_view text);

/// Names of a column's type in manifest.json, in DuckDB and in ClickHouse.
struct TypeNames {
    std::string_view manifest, duckdb, clickhouse;
};
[[nodiscard]] const TypeNames& type_names(lists::ColumnType type);

// SQL that loads the files of an export, run in its folder.

/// Returns DuckDB's script: a table for each table of the export. It ends with the first table as a
/// Parquet file.
[[nodiscard]] std::string duckdb_script(const std::vector<TableFiles>& tables,
                                        const TableFilesOptions& options);
/// Returns the script for clickhouse-client and clickhouse-local.
[[nodiscard]] std::string clickhouse_script(const std::vector<TableFiles>& tables,
                                            const TableFilesOptions& options);

/// Return scripts that add the rows of change_tables() to tables of these names, which they create
/// if they are missing. Rows that a table has already are left, so that a script may run again.
[[nodiscard]] std::string duckdb_changes_script(const std::vector<TableFiles>& tables,
                                                const TableFilesOptions& options);
[[nodiscard]] std::string clickhouse_changes_script(const std::vector<TableFiles>& tables,
                                                    const TableFilesOptions& options);

}  // namespace sluice::cli
