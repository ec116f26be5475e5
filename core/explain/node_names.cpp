#include "core/explain/node_names.hpp"

#include <utility>

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

std::string run_of_payout(const std::string& payout_id) {
    return "C" + payout_id.substr(1, payout_id.rfind('-') - 1);
}

const std::string& PayoutNodes::of(const std::string& payout_id) {
    std::string wanted = run_of_payout(payout_id);
    if (wanted != run_) {
        PayoutRun run;
        run.run = wanted;
        node_ = ledger_.load(run) ? run.node : std::string();
        run_ = std::move(wanted);
    }
    return node_;
}

}  // namespace sluice
