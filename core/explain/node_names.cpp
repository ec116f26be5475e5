#include "core/explain/node_names.hpp"

#include <utility>

#include "core/commands/ids.hpp"
#include "core/values/lookup.hpp"

namespace sluice {

NodeNames::NodeNames(LedgerReader& ledger) {
    ledger.scan_heads([this](const LedgerHead& head) { names_.emplace(head.number, head.node); });
}

std::string NodeNames::of(std::uint32_t number) const {
    return value_or(names_, number);
}

std::map<SequenceNumber, InputPlace> inputs_at(LedgerReader& ledger,
                                               const std::set<SequenceNumber>& wanted) {
    std::map<SequenceNumber, InputPlace> places;
    std::uint64_t inputs = 0;  // of all nodes, before the batch
    ledger.scan(AppliedBatch{}, {}, [&](const AppliedBatch& batch) {
        const std::uint64_t last = inputs + batch.last_seq.value + 1 - batch.first_seq.value;
        for (auto next = wanted.upper_bound(SequenceNumber{inputs});
             next != wanted.end() && next->value <= last; ++next) {
            places.emplace(*next, InputPlace{batch.node, SequenceNumber{batch.first_seq.value +
                                                                        next->value - inputs - 1}});
        }
        inputs = last;
    });
    return places;
}

const std::string& PayoutNodes::of(const std::string& payout_id) {
    std::string wanted = payout_run_of(payout_id);
    if (wanted != run_) {
        PayoutRun run{.payout_run = wanted};
        node_ = ledger_.load(run) ? run.node : std::string();
        run_ = std::move(wanted);
    }
    return node_;
}

}  // namespace sluice
