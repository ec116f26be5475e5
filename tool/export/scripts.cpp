#include <map>
#include <string_view>

#include "core/values/texts.hpp"
#include "tool/export/table_files.hpp"

namespace sluice::cli {
namespace {

using exports::ExportFormat;
using lists::ColumnType;

/// Names are the program's own, without quotes.
std::string in_quotes(std::string_view name) {
    return "\"" + std::string(name) + "\"";
}
std::string in_apostrophes(std::string_view text) {
    return "'" + std::string(text) + "'";
}

/// Returns the columns that name a row of a table of changes.
std::string key_of(const TableFiles& table) {
    const auto& columns = table.table().columns;
    return in_quotes(columns[0].name) + ", " + in_quotes(columns[1].name);
}

/// In CSV a list is one text.
std::string duckdb_type(ColumnType type, ExportFormat format) {
    const bool is_list = type == ColumnType::kTexts && format != ExportFormat::kCsv;
    return std::string(type_names(type).duckdb) + (is_list ? "[]" : "");
}

/// Returns the query that reads the files of a table.
std::string duckdb_rows(const TableFiles& table, const TableFilesOptions& options) {
    const bool is_csv = options.format == ExportFormat::kCsv;
    const auto& columns = table.table().columns;
    const std::string lists = joined(columns, "", [&](const lists::Column& column) {
        const std::string name = in_quotes(column.name);
        return is_csv && column.type == ColumnType::kTexts
                   ? ",\n    coalesce(string_split(" + name + ", ';'), []) AS " + name
                   : std::string();
    });
    return "SELECT *" + (lists.empty() ? "" : " REPLACE (" + lists.substr(1) + ")") + " FROM " +
           (is_csv ? "read_csv" : "read_json") + "([" +
           joined(table.files(), ", ",
                  [](const ExportFile& file) { return in_apostrophes(file.name); }) +
           "],\n    " +
           (is_csv ? "auto_detect = false, header = true, delim = ',', quote = '\"', "
                     "escape = '\"', nullstr = '', max_line_size = 16777216"
                   : "format = 'newline_delimited'") +
           (options.zstd ? ", compression = 'zstd'" : "") + ",\n    columns = {" +
           joined(columns, ", ",
                  [&](const lists::Column& column) {
                      return in_apostrophes(column.name) + ": " +
                             in_apostrophes(duckdb_type(column.type, options.format));
                  }) +
           "})";
}

/// In CSV a list is one text: a column that is only inserted takes it.
std::string inserted_name(const lists::Column& column, ExportFormat format) {
    const bool is_list = format == ExportFormat::kCsv && column.type == ColumnType::kTexts;
    return in_quotes(std::string(column.name) + (is_list ? "_text" : ""));
}

std::string clickhouse_column(const lists::Column& column, ExportFormat format) {
    const std::string name = in_quotes(column.name);
    const std::string declared = name + " " + std::string(type_names(column.type).clickhouse);
    const std::string taken = inserted_name(column, format);
    return taken == name ? declared
                         : taken + " String EPHEMERAL, " + declared + " DEFAULT if(" + taken +
                               " = '', [], splitByChar(';', " + taken + "))";
}

/// @param create  `CREATE TABLE`, or that with a condition.
std::string clickhouse_table(std::string_view create, const TableFiles& table,
                             ExportFormat format) {
    return std::string(create) + " " + in_quotes(table.table().name) + " (" +
           joined(table.table().columns, ", ",
                  [&](const lists::Column& column) { return clickhouse_column(column, format); }) +
           ") ENGINE = MergeTree ORDER BY tuple();\n";
}

/// Inserts the rows of the files into the table `name`, which is quoted.
std::string clickhouse_inserts(const std::string& name, const TableFiles& table,
                               const TableFilesOptions& options) {
    const bool is_csv = options.format == ExportFormat::kCsv;
    const std::string names = joined(table.table().columns, ", ", [&](const lists::Column& column) {
        return inserted_name(column, options.format);
    });
    std::string script;
    for (const ExportFile& file : table.files()) {
        script +=
            "INSERT INTO " + name + " (" + names + ") FROM INFILE " + in_apostrophes(file.name) +
            " COMPRESSION " + (options.zstd ? "'zstd'" : "'none'") +
            " SETTINGS date_time_input_format = 'best_effort'" +
            (is_csv ? ", input_format_csv_skip_first_lines = 1, "
                      "input_format_csv_trim_whitespaces = 0, format_csv_null_representation = '', "
                      "format_csv_allow_single_quotes = 0 FORMAT CSV"
                    : " FORMAT JSONEachRow") +
            ";\n";
    }
    return script;
}

}  // namespace

const TypeNames& type_names(ColumnType type) {
    using enum ColumnType;
    static constexpr TypeNames text{"text", "VARCHAR", "Nullable(String)"};
    static constexpr TypeNames json{"json", "JSON", "Nullable(String)"};
    static const std::map<ColumnType, TypeNames> names{
        {kText, text},
        {kTexts, {"texts", "VARCHAR", "Array(String)"}},
        {kInteger, {"integer", "BIGINT", "Nullable(Int64)"}},
        {kAmount, {"amount", "DECIMAL(38,6)", "Nullable(Decimal(38, 6))"}},
        {kFlag, {"flag", "BOOLEAN", "Nullable(Bool)"}},
        {kRate, text},
        {kDate, {"date", "DATE", "Nullable(Date32)"}},
        {kTime, {"time", "TIMESTAMPTZ", "Nullable(DateTime64(9, 'UTC'))"}},
        {kJson, json},
        {kObject, json},
        {kObjects, json}};
    return names.at(type);
}

std::string duckdb_script(const std::vector<TableFiles>& tables, const TableFilesOptions& options) {
    const std::string_view first = tables.front().table().name;
    return "-- Loads this export into DuckDB. Run it in this folder:\n"
           "-- duckdb sluice.duckdb < duckdb.sql\n" +
           joined(tables, "",
                  [&](const TableFiles& table) {
                      return "CREATE OR REPLACE TABLE " + in_quotes(table.table().name) + " AS " +
                             duckdb_rows(table, options) + ";\n";
                  }) +
           "COPY " + in_quotes(first) + " TO " + in_apostrophes(std::string(first) + ".parquet") +
           " (FORMAT parquet, COMPRESSION zstd);\n";
}

std::string clickhouse_script(const std::vector<TableFiles>& tables,
                              const TableFilesOptions& options) {
    return "-- Loads this export into new tables of ClickHouse. Run it in this folder:\n"
           "-- clickhouse-client --multiquery < clickhouse.sql\n" +
           joined(tables, "", [&](const TableFiles& table) {
               return clickhouse_table("CREATE TABLE", table, options.format) +
                      clickhouse_inserts(in_quotes(table.table().name), table, options);
           });
}

std::string duckdb_changes_script(const std::vector<TableFiles>& tables,
                                  const TableFilesOptions& options) {
    return "-- Adds these changes to the tables of DuckDB, each once. Run it in this folder:\n"
           "-- duckdb sluice.duckdb < duckdb.sql\n"
           "BEGIN TRANSACTION;\n" +
           joined(tables, "",
                  [&](const TableFiles& table) {
                      const std::string name = in_quotes(table.table().name);
                      return "CREATE TABLE IF NOT EXISTS " + name + " (" +
                             joined(table.table().columns, ", ",
                                    [&](const lists::Column& column) {
                                        return in_quotes(column.name) + " " +
                                               duckdb_type(column.type, options.format);
                                    }) +
                             ");\nINSERT INTO " + name + " " + duckdb_rows(table, options) +
                             "\n    ANTI JOIN " + name + " USING (" + key_of(table) + ");\n";
                  }) +
           "COMMIT;\n";
}

std::string clickhouse_changes_script(const std::vector<TableFiles>& tables,
                                      const TableFilesOptions& options) {
    return "-- Adds these changes to the tables of ClickHouse, each once. Run it in this folder:\n"
           "-- clickhouse-client --multiquery < clickhouse.sql\n" +
           joined(tables, "", [&](const TableFiles& table) {
               const std::string name = in_quotes(table.table().name);
               const std::string loaded = in_quotes(std::string(table.table().name) + "_loaded");
               const std::string key = key_of(table);
               return clickhouse_table("CREATE TABLE IF NOT EXISTS", table, options.format) +
                      "DROP TABLE IF EXISTS " + loaded + ";\nCREATE TABLE " + loaded + " AS " +
                      name + ";\n" + clickhouse_inserts(loaded, table, options) + "INSERT INTO " +
                      name + " SELECT * FROM " + loaded + " WHERE (" + key + ") NOT IN (SELECT " +
                      key + " FROM " + name + ");\nDROP TABLE " + loaded + ";\n";
           });
}

}  // namespace sluice::cli
