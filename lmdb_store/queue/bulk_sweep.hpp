// BulkSweep: removes bulk files that no record of the queue names. A process that was killed
// between its file and its record leaves one.
//
// Goes on in slices, so that the worker that applies the queue is not held up, and remembers which
// records it has seen: each is looked at once, however long it waits and however often a sweep
// begins. Thread: one at a time.
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
    /// Of one slice.
    static constexpr std::size_t kRecordsPerStep = 1000;
    static constexpr std::size_t kBytesPerStep = 8U << 20;

    /// @param age_seconds  Younger files are left alone: their record may be on its way.
    BulkSweep(const StorePaths& paths, Queue& queue, std::int64_t age_seconds)
        : paths_(paths), queue_(queue), age_seconds_(age_seconds) {}

    /// Lists what is old enough. The steps that follow find out what of it goes.
    [[nodiscard]] Status begin();
    /// One slice; nothing where no sweep is under way. @return how many files were removed; at the
    /// end of a sweep only. kCorrupt: a record cannot be read, whose file may be any of them; the
    /// sweep has ended.
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
    SequenceNumber next_{1};           ///< Every record before it was seen.
    std::deque<Named> named_;          ///< By records that were seen and are not applied.
    std::set<std::string> old_files_;  ///< Of this sweep.
};

}  // namespace sluice::store
