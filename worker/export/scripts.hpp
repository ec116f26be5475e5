// Scripts: SQL that loads the files of an export, run in its folder.
#pragma once

#include <string>
#include <vector>

#include "worker/export/table_files.hpp"

namespace sluice::cli {

/// Returns DuckDB's script: a table for each table of the export. It ends with the first table as a
/// Parquet file.
[[nodiscard]] std::string duckdb_script(const std::vector<TableFiles>& tables,
                                        const TableFilesOptions& options);
/// Returns the script for clickhouse-client and clickhouse-local.
[[nodiscard]] std::string clickhouse_script(const std::vector<TableFiles>& tables,
                                            const TableFilesOptions& options);

}  // namespace sluice::cli
