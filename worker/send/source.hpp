// Records of an input file of `sluice send`: NDJSON lines as they are, or CSV rows turned into
// JSON.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/values/interface.hpp"
#include "core/values/result.hpp"

namespace sluice::cli {

struct SendRecord {
    std::uint64_t line = 0;        ///< Where it begins, from 1.
    std::uint64_t row = 0;         ///< Of a CSV file, the header is 1; 0 elsewhere.
    std::uint64_t file_bytes = 0;  ///< Its part of the file.
    std::string text;              ///< JSON, without the line's end.
    std::string problem;           ///< Why the record cannot be sent; empty if it can.
};

class RecordSource : public Interface {
public:
    /// @return false at the end. Empty lines are passed over.
    [[nodiscard]] virtual Result<bool> next(SendRecord& record) = 0;
    /// The file's size, and what of it was read.
    [[nodiscard]] virtual std::uint64_t bytes_total() const noexcept = 0;
    [[nodiscard]] virtual std::uint64_t bytes_read() const noexcept = 0;
    /// A record's problem, with the place in the file where its field stands.
    [[nodiscard]] virtual std::string placed(const SendRecord& record,
                                             const std::string& problem) const {
        (void)record;
        return problem;
    }
};

/// kNotFound, kPermission, kIo; for CSV also kInvalid (the header).
[[nodiscard]] Result<std::unique_ptr<RecordSource>> open_ndjson(const std::string& path);
[[nodiscard]] Result<std::unique_ptr<RecordSource>> open_product_csv(const std::string& path);

}  // namespace sluice::cli
