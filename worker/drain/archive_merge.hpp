// Archive merge: the inputs of one or several archives in the order in which they were received.
//
// Each node archives its own queue. Inputs of one archive keep their order; between archives the
// earlier time of receipt comes first, of equal times the archive that was named first. So the same
// archives always give the same order. It is near to the order in which a fleet applied them, and
// not the same: a node that lagged behind applied later what it had received earlier.
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

    /// The next input, valid until the next call; nothing at the end. As ArchiveReader::next().
    [[nodiscard]] Result<std::optional<store::ArchivePlace>> next();

private:
    struct Source {
        std::filesystem::path folder;
        std::unique_ptr<store::ArchiveReader> reader;
        std::optional<store::ArchivePlace> place;  ///< Read, and not given out yet.
        Timestamp received_at;                     ///< Of `place`.
        bool is_spent = true;                      ///< `place` was given out.
    };

    [[nodiscard]] Status fill(Source& source);
    [[nodiscard]] Error named(const Source& source, const Error& error) const;

    std::vector<Source> sources_;
};

}  // namespace sluice::worker
