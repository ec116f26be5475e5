#include "worker/drain/input_tail.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/commands/commands.hpp"
#include "core/protocol/input_digest.hpp"
#include "core/protocol/record.hpp"

namespace sluice::worker {
namespace {

constexpr std::size_t kPieceInputs = 2000;
constexpr std::size_t kPieceBytes = 8U << 20;

Error not_applied(SequenceNumber after, SequenceNumber last) {
    return {ErrorCode::kCorrupt,
            "inputs " + std::to_string(after.value + 1) + " to " + std::to_string(last.value) +
                " of the queue are not those that the ledger has applied: another program changed "
                "or deleted some of them. The ledger is right; these bytes are not taken for what "
                "it applied"};
}

/// Extends the chain by the inputs, and notes it in each.
void follow(Digest256& chain, std::vector<OwnedInput>& inputs) {
    for (OwnedInput& input : inputs) {
        chain = chain_after(chain, input.seq, input_digest(input.record));
        input.chain = chain;
    }
}

}  // namespace

/// The body of an input was part of it only if it is what the record says, which read_inputs()
/// checks.
Result<std::vector<OwnedInput>> InputTail::read(SequenceNumber from, SequenceNumber upto) {
    auto inputs = read_inputs(queue_, paths_, from, kPieceInputs, kPieceBytes);
    if (inputs) {
        std::erase_if(*inputs, [upto](const OwnedInput& input) { return input.seq > upto; });
    }
    return inputs;
}

Status InputTail::prove(SequenceNumber after, const Digest256& chain, const LedgerHead& end,
                        const std::function<void()>& alive) {
    after_ = after;
    chain_ = chain;
    marks_.clear();
    next_ = 0;
    std::vector<Mark> marks;
    Digest256 reached = chain;
    for (SequenceNumber last = after; last < end.applied_seq;) {
        auto inputs = read({last.value + 1}, end.applied_seq);
        if (!inputs && inputs.error().code != ErrorCode::kConflict) {
            return inputs.error();
        }
        if (!inputs || inputs->empty()) {
            break;  // the rest is missing, or a gap that the last one accepted
        }
        follow(reached, *inputs);
        last = inputs->back().seq;
        marks.push_back({last, reached});
        if (alive) {
            alive();
        }
    }
    if (reached != end.inputs_sha256) {
        return not_applied(after, end.applied_seq);
    }
    marks_ = std::move(marks);
    return {};
}

Result<std::vector<OwnedInput>> InputTail::next(LedgerReader& ledger) {
    std::vector<OwnedInput> piece;
    if (is_at_end()) {
        return piece;
    }
    const Mark& mark = marks_[next_];
    const SequenceNumber after = after_;
    while (piece.empty() || piece.back().seq < mark.seq) {
        const SequenceNumber from{(piece.empty() ? after : piece.back().seq).value + 1};
        auto inputs = read(from, mark.seq);
        if (!inputs && inputs.error().code != ErrorCode::kConflict) {
            return inputs.error();
        }
        if (!inputs || inputs->empty()) {
            return not_applied(after, mark.seq);
        }
        std::move(inputs->begin(), inputs->end(), std::back_inserter(piece));
    }
    follow(chain_, piece);
    if (chain_ != mark.chain) {
        return not_applied(after, mark.seq);
    }
    for (OwnedInput& input : piece) {
        input.last_seq = last_number_of(input, ledger);
    }
    after_ = mark.seq;
    ++next_;
    return piece;
}

SequenceNumber last_number_of(const OwnedInput& input, LedgerReader& ledger) {
    const Result<RecordView> record = decode_record(input.record);
    if (!record || record->meta.topic != Topic::kAcceptGap) {
        return input.seq;
    }
    const std::optional<CommandRow> row = ledger.command(input.seq);
    const auto request = decode_request(Topic::kAcceptGap, record->body, Pseudonyms::kRefused);
    const bool is_accepted = row && row->outcome == CommandOutcome::kDone && request;
    return is_accepted ? std::get<AcceptGap>(request->command).last : input.seq;
}

}  // namespace sluice::worker
