// Rejects: problems of records, counted by reason; all of them are written to a file, if one is
// given.
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "core/values/result.hpp"
#include "program/system/file.hpp"

namespace sluice::cli {

class Rejects {
public:
    /// @param input  Name of the records' file.
    explicit Rejects(std::string input) : input_(std::move(input)) {}

    /// Also writes every problem to `path`, as `input:line: problem`. Only the owner can read it.
    /// @param append  Keep the contents of the file, for a run that resumes.
    [[nodiscard]] Status write_to(const std::string& path, bool append);
    void add(std::uint64_t line, const std::string& problem);
    /// Flushes the problems to the file.
    [[nodiscard]] Status flush();

    /// Prints the most frequent reasons first: the first lines of each, and the number of others.
    void print_summary(std::FILE* out) const;

private:
    static constexpr std::size_t kExamples = 3;
    static constexpr std::size_t kReasonsMax = 100;

    struct Reason {
        std::uint64_t count = 0;
        std::vector<std::string> examples;  ///< `input:line: problem`
    };

    std::string input_;
    std::string path_;
    UniqueFile file_;
    std::map<std::string, Reason> reasons_;
};

/// Removes the parts that differ from record to record: `line_items[3].sku: REQUIRED: ...` becomes
/// `line_items[].sku: REQUIRED: ...`.
[[nodiscard]] std::string reason_of(const std::string& problem);

}  // namespace sluice::cli
