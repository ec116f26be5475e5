// Apply: what one input of the queue does to the ledger.
//
// Deterministic: the same inputs in the same order give the same rows, byte for byte. There is no
// clock here; an input's time is its time of receipt. Everything an input does, its checkpoint
// included, happens in the transaction that is passed in.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/apply/applied.hpp"
#include "core/ledger/ledger.hpp"

namespace sluice {

class InputApplier;

class Applier {
public:
    Applier();
    ~Applier();
    Applier(const Applier&) = delete;
    Applier& operator=(const Applier&) = delete;

    /// Applies one input: rows, journal, totals, checkpoint. Never fails on an input's content:
    /// what cannot be applied becomes a dead letter. Requires: no work is pending (see work());
    /// input.seq is above the head's applied_seq. Throws LedgerFailure; the transaction must then
    /// be let go and discard() called.
    Applied apply(const Input& input, LedgerTxn& txn);

    /// Does up to `orders_max` orders of the attribution that imports and program files left to be
    /// tried again. It must be finished, over as many transactions as it takes, before the next
    /// input is applied: apply() does the first kWorkInline orders itself.
    /// @return true if some is left.
    bool work(LedgerTxn& txn, std::size_t orders_max);

    /// Forgets what was cached from a transaction that was let go.
    void discard() noexcept;

private:
    std::unique_ptr<InputApplier> inputs_;
};

/// True if attribution is left to be tried again.
[[nodiscard]] bool work_is_pending(LedgerTxn& txn);

/// Attribution that is left to be tried again, of this node.
struct WorkLeft {
    std::uint64_t pieces = 0;  ///< Codes, devices and whole programs; 0: nothing is left.
    SequenceNumber cause;      ///< The input that left the first of them.
};
[[nodiscard]] WorkLeft work_left(LedgerReader& ledger);
/// `waiting orders of 3 codes, devices or programs are still to be tried again`
[[nodiscard]] std::string work_text(std::uint64_t pieces);

}  // namespace sluice
