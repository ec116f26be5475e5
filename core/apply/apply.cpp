#include "core/apply/apply.hpp"

#include "core/apply/dead_letters.hpp"
#include "core/apply/input.hpp"
#include "core/values/assert.hpp"

namespace sluice {

Applier::Applier() : inputs_(std::make_unique<InputApplier>()) {}
Applier::~Applier() = default;

Applied Applier::apply(const Input& input, LedgerTxn& txn) {
    SLUICE_ASSERT(input.seq > txn.head().applied_seq);
    const RecordMeta* meta = nullptr;
    RecordView record;
    Applied applied = inputs_->apply(input, meta, record, txn);
    if (applied.input_class == InputClass::kDead) {
        txn.put(letter_of(input, meta, applied.text));
    }
    LedgerHead& head = txn.mutable_head();
    ++counter(head.totals, applied.input_class);
    head.applied_seq = input.seq;
    head.last_received = meta != nullptr ? meta->received_at : head.last_received;
    return applied;
}

bool Applier::work(LedgerTxn& txn, std::size_t orders_max) {
    return inputs_->work(txn, orders_max);
}

void Applier::discard() noexcept {
    inputs_->discard();
}

bool work_is_pending(LedgerTxn& txn) {
    return txn.first_work().has_value();
}

/// Pieces are numbered without gaps and done in order.
WorkLeft work_left(LedgerReader& ledger) {
    const std::optional<Work> first = ledger.first_work();
    return first ? WorkLeft{ledger.head().next_work - first->number, first->cause} : WorkLeft{};
}

std::string work_text(std::uint64_t pieces) {
    return "waiting orders of " + std::to_string(pieces) +
           (pieces == 1 ? " code, device or program are" : " codes, devices or programs are") +
           " still to be tried again";
}

}  // namespace sluice
