// Rule words: which rule, tier and factor of a program gave a line its rate. Internal to
// core/explain.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "core/ledger/ledger.hpp"
#include "core/ledger/order_state.hpp"

namespace sluice {

/// The versions of programs that rates were frozen under, each read once.
class ProgramVersions {
public:
    explicit ProgramVersions(LedgerReader& ledger) : ledger_(ledger) {}
    /// Returns nothing if the version is not stored.
    [[nodiscard]] const std::optional<ProgramRow>& version(const ProgramId& program,
                                                           std::uint32_t version);

private:
    LedgerReader& ledger_;
    std::map<std::pair<ProgramId, std::uint32_t>, std::optional<ProgramRow>> rows_;
};

/// Returns the rule that gave a frozen rate, with its conditions, tier and factor.
[[nodiscard]] std::string rule_words(const Position& position, const FrozenRate& frozen,
                                     ProgramVersions& programs);

/// Returns `; no product is known for this line: rules by tag cannot match` if the program has
/// rules that a product of the line could have matched before the one that gave the rate, or
/// factors.
[[nodiscard]] std::string product_words(const OrderState& order, const OrderLine& line,
                                        const FrozenRate& frozen,
                                        const std::optional<ProgramRow>& program,
                                        LedgerReader& ledger);

}  // namespace sluice
