// Steps ahead: reads and unpacks the next steps of a merge of archives on another thread, while
// earlier steps are applied.
//
// The steps and the error that ends them are those of ArchiveMerge, in its order. Memory: twice
// kBytesAhead, and twice the largest input. Not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/values/result.hpp"
#include "worker/drain/archive_merge.hpp"
#include "worker/drain/input_batch.hpp"
#include "worker/drain/side_thread.hpp"

namespace sluice::worker {

/// Neighbouring inputs of one batch, or work that one of the queue's inputs had left.
struct OwnedSteps {
    std::string queue;
    std::uint64_t batch = 0;              ///< MergedStep::batch.
    std::optional<std::uint64_t> slices;  ///< MergedStep::slices.
    std::vector<OwnedInput> inputs;       ///< None for work alone.
};

class StepsAhead {
public:
    /// @param folders, applied, batch  As ArchiveMerge::open() has them.
    /// @param on_thread  False to read each piece when it is wanted.
    [[nodiscard]] static Result<std::unique_ptr<StepsAhead>> open(
        const std::vector<std::filesystem::path>& folders, const Positions& applied,
        std::uint64_t batch, bool on_thread);

    /// Returns the next steps, or nothing at the end.
    [[nodiscard]] Result<std::optional<OwnedSteps>> next();

private:
    /// Steps that were read at once.
    struct Piece {
        std::deque<OwnedSteps> steps;
        bool is_last = false;  ///< The merge is at its end, or has failed.
        Status end;
        std::exception_ptr thrown;
    };

    StepsAhead(std::unique_ptr<ArchiveMerge> merge, bool on_thread)
        : merge_(std::move(merge)), on_thread_(on_thread) {}
    void read_piece(Piece& piece);
    void read_guarded(Piece& piece) noexcept;

    std::unique_ptr<ArchiveMerge> merge_;
    const bool on_thread_;
    Piece current_, further_;
    bool has_begun_ = false;
    SideThread thread_;  ///< Writes `further_`. Ends before the members that it uses.
};

}  // namespace sluice::worker
