// RecordSorter: sorts more records than fit into memory, by an external merge sort in an unnamed
// file.
//
// Records are collected in memory. When it is full, they are sorted and written as a run; the runs
// are merged during the visit. The file disappears with the object or the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/values/result.hpp"
#include "os/files/file_io.hpp"

namespace sluice {

/// Threads: one at a time. Memory: `bytes_at_once`, and 64 KB for each run during a visit.
class RecordSorter {
public:
    static constexpr std::size_t kBytesAtOnce = 16U << 20;

    /// @param folder  Folder of the file, which is created when it is needed. /var/tmp if that
    /// fails.
    explicit RecordSorter(std::filesystem::path folder, std::size_t bytes_at_once = kBytesAtOnce);

    /// Adds a record. Key and value may have 4 GB each.
    [[nodiscard]] Status add(std::string_view key, std::string_view value);
    /// Calls visit(value) for each record in the order of keys (bytes), equal keys in any order,
    /// until it returns false. The value is valid during the call. May be called again, but not
    /// followed by add().
    [[nodiscard]] Status visit(const std::function<bool(std::string_view value)>& visit);
    /// Returns the number of runs written.
    [[nodiscard]] std::size_t runs_count() const noexcept { return runs_.size(); }

private:
    struct Run {
        std::uint64_t begin = 0, end = 0;
    };
    class RunReader;

    void sort();
    [[nodiscard]] Status open();
    [[nodiscard]] Status write_run();
    [[nodiscard]] Status merge(const std::function<bool(std::string_view value)>& visit);

    std::filesystem::path folder_;
    std::size_t bytes_at_once_;
    std::string bytes_;                 ///< The records that are not in a run.
    std::vector<std::size_t> records_;  ///< Their offsets in bytes_.
    bool sorted_ = false;
    Fd file_;
    std::uint64_t file_bytes_ = 0;
    std::vector<Run> runs_;
};

}  // namespace sluice
