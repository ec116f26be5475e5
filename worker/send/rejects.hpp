// Rejects: what was wrong with records, summed up by reason; all of it in a file, if one is given.
#pragma once

#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "core/values/result.hpp"
#include "worker/system/file.hpp"

namespace sluice::cli {

class Rejects {
public:
    /// @param input  Name of the file that the records come from.
    explicit Rejects(std::string input) : input_(std::move(input)) {}

    /// Every problem goes to `path`, too, as `input:line: problem`. Only its owner can read it.
    /// @param append  A run goes on: what is in the file stays.
    [[nodiscard]] Status write_to(const std::string& path, bool append);
    void add(std::uint64_t line, const std::string& problem);
    /// What was added is in the file when it returns.
    [[nodiscard]] Status flush();

    /// The most frequent reasons first: the first lines of each, and how many more there are.
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

/// The problem without what differs from record to record: `line_items[3].sku: REQUIRED: ...`
/// becomes `line_items[].sku: REQUIRED: ...`.
[[nodiscard]] std::string reason_of(const std::string& problem);

}  // namespace sluice::cli
