// Records of an input file of `sluice send`: NDJSON lines as they are, or CSV rows turned into
// JSON.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/values/result.hpp"

namespace sluice::cli {

struct SendRecord {
    std::uint64_t line = 0;  ///< Where it begins, from 1.
    std::string text;        ///< JSON, without the line's end.
    std::string problem;     ///< Not empty: it cannot be sent, and why.
};

class RecordSource {
public:
    RecordSource() = default;
    RecordSource(const RecordSource&) = delete;
    RecordSource& operator=(const RecordSource&) = delete;
    virtual ~RecordSource() = default;

    /// @return false at the end. Empty lines are passed over.
    [[nodiscard]] virtual Result<bool> next(SendRecord& record) = 0;
    /// Part of the file that was read, 0 to 1.
    [[nodiscard]] virtual double fraction() const noexcept = 0;
};

/// kNotFound, kPermission, kIo; for CSV also kInvalid (the header).
[[nodiscard]] Result<std::unique_ptr<RecordSource>> open_ndjson(const std::string& path);
[[nodiscard]] Result<std::unique_ptr<RecordSource>> open_product_csv(const std::string& path);

}  // namespace sluice::cli
