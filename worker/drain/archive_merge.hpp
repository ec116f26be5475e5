// Archive merge: the inputs of one or several archives in the order in which they were received.
//
// Each node archives its own queue. Inputs of one archive keep their order. Between archives the
// earlier time of receipt comes first; of equal times, the archive that was named first. So the
// same archives always give the same order. That order can differ from the one in which a fleet
// applied the inputs, because a lagging node applies late what it received early.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "core/values/result.hpp"
#include "lmdb_store/archive/archive.hpp"

namespace sluice::worker {

/// Not thread-safe; never writes.
class ArchiveMerge {
public:
    /// Requires: at least one folder. An error names the folder, if there are several.
    [[nodiscard]] static Result<std::unique_ptr<ArchiveMerge>> open(
        const std::vector<std::filesystem::path>& folders);

    /// Returns the next input, valid until the next call, or nothing at the end.
    [[nodiscard]] Result<std::optional<store::ArchivePlace>> next();

private:
    struct Source {
        std::filesystem::path folder;
        std::unique_ptr<store::ArchiveReader> reader;
        std::optional<store::ArchivePlace> place;  ///< The input that was read last.
        Timestamp received_at;                     ///< Time of receipt of `place`.
        bool is_spent = true;                      ///< next() has returned `place`.
    };

    [[nodiscard]] Status fill(Source& source);
    [[nodiscard]] Error named(const Source& source, const Error& error) const;

    std::vector<Source> sources_;
};

}  // namespace sluice::worker
