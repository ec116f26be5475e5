#include "core/explain/node_names.hpp"

#include <utility>

#include "core/commands/ids.hpp"

namespace sluice {

NodeNames::NodeNames(LedgerReader& ledger) {
    ledger.scan_heads([this](const LedgerHead& head) {
        names_.emplace(head.number, head.node);
        return true;
    });
}

std::string NodeNames::of(std::uint32_t number) const {
    const auto found = names_.find(number);
    return found == names_.end() ? std::string() : found->second;
}

const std::string& PayoutNodes::of(const std::string& payout_id) {
    std::string wanted = payout_run_of(payout_id);
    if (wanted != run_) {
        PayoutRun run;
        run.payout_run = wanted;
        node_ = ledger_.load(run) ? run.node : std::string();
        run_ = std::move(wanted);
    }
    return node_;
}

}  // namespace sluice
