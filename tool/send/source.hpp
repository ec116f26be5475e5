// Records of an input file of `sluice send`: NDJSON lines as they are, or CSV rows turned into
// JSON.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/protocol/product_fields.hpp"
#include "core/values/interface.hpp"
#include "core/values/result.hpp"
#include "tool/send/rejects.hpp"

namespace sluice::cli {

struct SendRecord {
    std::uint64_t line = 0;        ///< Line where it begins, from 1.
    std::uint64_t row = 0;         ///< Row of a CSV file, where the header is 1; else 0.
    std::uint64_t file_bytes = 0;  ///< Bytes that it takes in the file.
    std::string text;              ///< JSON, without the line's end.
    std::string problem;           ///< The reason why it cannot be sent; empty if it can.
};

class RecordFile : public Interface {
public:
    /// @return false at the end. Empty lines are skipped.
    [[nodiscard]] virtual Result<bool> next(SendRecord& record) = 0;
    /// Return the size of the file, and how much of it was read.
    [[nodiscard]] virtual std::uint64_t bytes_total() const noexcept = 0;
    [[nodiscard]] virtual std::uint64_t bytes_read() const noexcept = 0;
    /// Returns a record's problem with the place of its field in the file.
    [[nodiscard]] virtual std::string placed(const SendRecord& record,
                                             const std::string& problem) const {
        (void)record;
        return problem;
    }
};

/// Opens a file. Returns kNotFound, kPermission or kIo; for CSV also kInvalid, if the header is
/// wrong.
[[nodiscard]] Result<std::unique_ptr<RecordFile>> open_ndjson(const std::string& path);
[[nodiscard]] Result<std::unique_ptr<RecordFile>> open_product_csv(const std::string& path);
/// @param anon_field  The column of the device's id.
[[nodiscard]] Result<std::unique_ptr<RecordFile>> open_click_csv(const std::string& path,
                                                                 const std::string& anon_field);

/// The columns of a CSV file, which turn its rows into JSON.
class CsvRecords {
public:
    /// Returns kInvalid for a column that no product record has, a repeated column, or a missing
    /// platform_product_id.
    [[nodiscard]] static Result<CsvRecords> of_products(const std::vector<std::string>& header);
    /// Returns kInvalid for a column that no click has, a repeated column, or a missing one that
    /// every click has.
    [[nodiscard]] static Result<CsvRecords> of_clicks(const std::vector<std::string>& header,
                                                      const std::string& anon_field);

    /// Returns one JSON object, or kInvalid if the row has another number of fields or a cell that
    /// must be JSON is not.
    [[nodiscard]] Result<std::string> to_json(const std::vector<std::string>& fields) const;

    /// Prefixes a problem that begins with a field's name with the number of its column:
    /// `title: REQUIRED` becomes `, column 2: title: REQUIRED`. Other problems become `: problem`.
    [[nodiscard]] std::string placed(const std::string& problem) const;

private:
    struct Column {
        std::string name;
        FieldType type;
    };

    /// @param type_of  Returns the type of a column, or kInvalid.
    [[nodiscard]] static Result<CsvRecords> of(
        const std::vector<std::string>& header, std::span<const std::string> required,
        const std::function<Result<FieldType>(const std::string&)>& type_of);

    std::vector<Column> columns_;
};

/// Passes records through. A misspelt field is added to `doubts`; if that is nullptr, the record
/// gets a problem instead. `doubts` must outlive the source.
[[nodiscard]] std::unique_ptr<RecordFile> watched_for_misspellings(
    std::unique_ptr<RecordFile> source, Rejects* doubts);

}  // namespace sluice::cli
