// Evidence: why a code or a click does not count for an order without looking at others. What
// `explain` says of a candidate and a creator's page of a missing order come from it.
//
// Internal to core/explain.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/explain/cause_found.hpp"
#include "core/ledger/ledger.hpp"
#include "core/ledger/order_state.hpp"
#include "core/rules/attribution.hpp"

namespace sluice {

/// Judges the codes and clicks of any creator for one order.
class EvidenceJudge {
public:
    /// Both must outlive this object.
    EvidenceJudge(LedgerReader& ledger, const OrderState& order);

    /// The account's programs.
    [[nodiscard]] const std::vector<ProgramRow>& programs() const noexcept { return programs_; }
    /// Return the first cause for which it does not count, or nothing if it would count alone.
    /// @param row  The program of the code or the click, one of programs().
    [[nodiscard]] std::optional<CauseFound> code_fault(const CodeRow& owner, const ProgramRow& row);
    [[nodiscard]] std::optional<CauseFound> click_fault(const Click& click, const ProgramRow& row);

private:
    [[nodiscard]] std::optional<CauseFound> program_fault(const ProgramRow& row,
                                                          const CreatorId& creator,
                                                          AttributionType type);
    [[nodiscard]] const Covering* covering_of(const ProgramRow& row) const;

    LedgerReader& ledger_;
    const OrderState& order_;
    std::vector<ProgramRow> programs_;
    std::vector<Covering> covering_;
};

void keep_first(std::optional<CauseFound>& first, CauseFound found);

/// Says a fault to staff: `does not count: after the order`.
[[nodiscard]] std::string fault_words(const CauseFound& fault);

}  // namespace sluice
