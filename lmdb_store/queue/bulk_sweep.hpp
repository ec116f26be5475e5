// BulkSweep: removes bulk files that no record of the queue names. A process that is killed between
// writing its file and its record leaves such a file.
//
// Works in slices, so that it does not delay the worker, and remembers the records that it has
// read, so that each is read once, however often a sweep begins. Threads: one at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <set>
#include <string>

#include "core/values/ids.hpp"
#include "core/values/result.hpp"
#include "lmdb_store/queue/queue.hpp"
#include "lmdb_store/store/format.hpp"

namespace sluice::store {

class BulkSweep {
public:
    /// Limits of one slice.
    static constexpr std::size_t kRecordsPerStep = 1000;
    static constexpr std::size_t kBytesPerStep = 8U << 20;

    /// @param age_seconds  Younger files are kept, because their record may follow.
    BulkSweep(const StorePaths& paths, Queue& queue, std::int64_t age_seconds)
        : paths_(paths), queue_(queue), age_seconds_(age_seconds) {}

    /// Lists the files that are old enough. The steps that follow decide which of them to remove.
    [[nodiscard]] Status begin();
    /// Performs one slice, if a sweep is active. Returns the number of files removed, which is 0
    /// before the last slice. Returns kCorrupt if a record cannot be read; the sweep then ends,
    /// because any file may belong to that record.
    [[nodiscard]] Result<std::uint64_t> step();
    [[nodiscard]] bool is_under_way() const noexcept { return is_under_way_; }

private:
    struct Named {
        SequenceNumber seq;
        std::string name;
    };

    [[nodiscard]] Result<bool> see_records();
    [[nodiscard]] std::uint64_t remove_unnamed();

    StorePaths paths_;
    Queue& queue_;
    std::int64_t age_seconds_;
    bool is_under_way_ = false;
    SequenceNumber next_{1};           ///< Every record before it was read.
    std::deque<Named> named_;          ///< Files of records that are not applied.
    std::set<std::string> old_files_;  ///< Candidates of this sweep.
};

}  // namespace sluice::store
