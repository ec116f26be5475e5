#include "worker/drain/steps_ahead.hpp"

#include <utility>

namespace sluice::worker {
namespace {

/// More than a batch of ordinary orders.
constexpr std::size_t kBytesAhead = std::size_t{12} << 20;

OwnedInput owned(const store::ArchivedInput& input) {
    OwnedInput made;
    made.seq = input.seq;
    made.record = input.record;
    made.bulk_body = input.bulk_body;
    made.last_seq = input.last_seq;
    made.original = input.original;
    if (!input.dead_reason.empty()) {
        made.dead_reason = std::string(input.dead_reason);
    }
    return made;
}

bool continues(const OwnedSteps& steps, const MergedStep& step) {
    return !steps.inputs.empty() && step.input != nullptr && steps.batch == step.batch &&
           steps.slices == step.slices && steps.queue == step.queue_uuid;
}

}  // namespace

Result<std::unique_ptr<StepsAhead>> StepsAhead::open(
    const std::vector<std::filesystem::path>& folders, const Positions& applied,
    std::uint64_t batch, bool on_thread) {
    auto merge = ArchiveMerge::open(folders, applied, batch);
    if (!merge) {
        return merge.error();
    }
    return std::unique_ptr<StepsAhead>(new StepsAhead(std::move(*merge), on_thread));
}

void StepsAhead::read_piece(Piece& piece) {
    for (std::size_t bytes = 0; bytes < kBytesAhead;) {
        const auto step = merge_->next();
        if (!step || !*step) {
            piece.end = step ? Status() : step.error();
            piece.is_last = true;
            return;
        }
        const MergedStep& read = **step;
        if (piece.steps.empty() || !continues(piece.steps.back(), read)) {
            piece.steps.push_back({std::string(read.queue_uuid), read.batch, read.slices, {}});
        }
        if (read.input != nullptr) {
            std::vector<OwnedInput>& inputs = piece.steps.back().inputs;
            inputs.push_back(owned(*read.input));
            bytes += inputs.back().record.size() + inputs.back().bulk_body.size();
        }
        bytes += sizeof(OwnedInput);
    }
}

/// Keeps what is thrown for the caller of next().
void StepsAhead::read_guarded(Piece& piece) noexcept {
    try {
        read_piece(piece);
    } catch (...) {
        piece.is_last = true;
        piece.thrown = std::current_exception();
    }
}

Result<std::optional<OwnedSteps>> StepsAhead::next() {
    while (current_.steps.empty()) {
        if (current_.thrown) {
            std::rethrow_exception(current_.thrown);
        }
        if (current_.is_last) {
            return current_.end ? Result<std::optional<OwnedSteps>>(std::nullopt)
                                : current_.end.error();
        }
        if (!has_begun_) {
            read_guarded(further_);
            has_begun_ = true;
        }
        thread_.wait();
        current_ = std::exchange(further_, {});
        if (!on_thread_) {
            has_begun_ = false;
        } else if (!current_.is_last) {
            thread_.start([this] { read_guarded(further_); });
        }
    }
    std::optional<OwnedSteps> steps = std::move(current_.steps.front());
    current_.steps.pop_front();
    return steps;
}

}  // namespace sluice::worker
