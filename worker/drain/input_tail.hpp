// Input tail: what a queue still has of the inputs that a ledger has applied, proved by the
// ledger's chain (controls K14).
//
// nginx can write to the queue after an input was applied. So the tail is read twice: once to
// compute the chain, whose end must be the ledger's, and then in pieces whose chains were noted.
// Not thread-safe.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "core/ledger/head.hpp"
#include "core/ledger/ledger.hpp"
#include "core/values/ids.hpp"
#include "core/values/result.hpp"
#include "lmdb_store/queue/queue.hpp"
#include "lmdb_store/store/format.hpp"
#include "worker/drain/input_batch.hpp"

namespace sluice::worker {

class InputTail {
public:
    /// Both must outlive it.
    InputTail(store::Queue& queue, const store::StorePaths& paths) : queue_(queue), paths_(paths) {}

    /// Proves the inputs after `after`. Returns kCorrupt if they are not those that were applied.
    /// @param chain  After input `after`.
    /// @param end  The ledger's head.
    /// @param alive  Called now and then. May be empty.
    [[nodiscard]] Status prove(SequenceNumber after, const Digest256& chain, const LedgerHead& end,
                               const std::function<void()>& alive = {});
    /// Returns the next proved inputs, with their chains and the gaps that `ledger` accepted; none
    /// at the end. Returns kCorrupt if they changed since prove().
    [[nodiscard]] Result<std::vector<OwnedInput>> next(LedgerReader& ledger);
    [[nodiscard]] bool is_at_end() const noexcept { return next_ == marks_.size(); }

private:
    /// The end of a piece.
    struct Mark {
        SequenceNumber seq;
        Digest256 chain{};
    };
    [[nodiscard]] Result<std::vector<OwnedInput>> read(SequenceNumber from, SequenceNumber upto);

    store::Queue& queue_;
    const store::StorePaths& paths_;
    SequenceNumber after_;
    Digest256 chain_{};
    std::vector<Mark> marks_;
    std::size_t next_ = 0;
};

/// Returns the last number that an applied input stands for.
[[nodiscard]] SequenceNumber last_number_of(const OwnedInput& input, LedgerReader& ledger);

}  // namespace sluice::worker
