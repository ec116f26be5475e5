// Record sorter: sorts more records than memory takes, through a file that has no name.
//
// Records are gathered in memory; what is more is sorted and written, run by run, and the runs are
// merged as they are visited. The file is gone with the object, or with the process.
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

/// One thread at a time. Memory: `bytes_at_once`, and 64 KB for each run while they are visited.
class RecordSorter {
public:
    static constexpr std::size_t kBytesAtOnce = 16U << 20;

    /// @param folder  Where the file is made, once one is needed; if no file can be made there, in
    ///                /var/tmp.
    explicit RecordSorter(std::filesystem::path folder, std::size_t bytes_at_once = kBytesAtOnce);

    /// Key and value: up to 4 GB each. Records are visited by key (bytes), equal ones in any order.
    [[nodiscard]] Status add(std::string_view key, std::string_view value);
    /// Requires: nothing is added any more. May be called again. The value is valid during the
    /// call; false ends the visit.
    [[nodiscard]] Status visit(const std::function<bool(std::string_view value)>& visit);
    /// How many runs were written.
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
    std::string bytes_;                 ///< Of the records that are not written.
    std::vector<std::size_t> records_;  ///< Where they begin in it.
    bool sorted_ = false;
    Fd file_;
    std::uint64_t file_bytes_ = 0;
    std::vector<Run> runs_;
};

}  // namespace sluice
