// Tiers: which one applies, and for those that apply to a creator's month the volumes that matter
// and other tiers for frozen lines (rule M4).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "core/ledger/order_state.hpp"
#include "core/programs/program.hpp"

namespace sluice {

/// Returns the index of the tier that applies, or nullopt if the rule's own rate does (M4).
[[nodiscard]] std::optional<std::uint8_t> tier_for(const std::vector<Tier>& tiers,
                                                   const std::optional<Money>& volume,
                                                   Currency currency) noexcept;

/// The volumes at which a tier begins, ascending, by currency.
using TierBounds = std::map<Currency, std::vector<Decimal>>;
/// Returns those of all versions of a program whose tiers apply to the month, because a frozen line
/// keeps the tiers of its version. Empty if the current version's do not.
[[nodiscard]] TierBounds tier_bounds(const ProgramRow& program, LedgerReader& ledger);

/// Gives frozen lines other tiers; reads each version of the program once.
class MonthTiers {
public:
    MonthTiers(ProgramId program, LedgerReader& ledger)
        : program_(std::move(program)), ledger_(ledger) {}

    /// Gives each line the tier of a volume, by the version that froze it, and notes the volume.
    /// Lines of other versions keep theirs. Returns false if no line has another tier; then nothing
    /// has changed. Requires: the position is of the program.
    bool rate(Position& position, const Money& volume);

private:
    /// Returns nullptr if the version's tiers do not apply to the month.
    const Program* version(std::uint32_t number);

    ProgramId program_;
    LedgerReader& ledger_;
    std::map<std::uint32_t, std::optional<ProgramRow>> versions_;
};

}  // namespace sluice
