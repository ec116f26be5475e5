// Soundness: checks that a stored order fits the rules that made it (rule O6). Stored bytes are
// input: a row that breaks a rule is an error that names it, never an assertion. Pure.
#pragma once

#include <optional>
#include <string>

#include "core/ledger/failure.hpp"
#include "core/ledger/ledger.hpp"

namespace sluice {

/// Returns the fault of the order, or nullopt if it is sound.
[[nodiscard]] std::optional<std::string> damage_of(const OrderState& state);

/// LedgerReader::load_order() for an order that is about to be changed or paid. Throws DamagedRow.
[[nodiscard]] bool load_sound_order(LedgerReader& ledger, const OrderKey& key, OrderState& state);

/// For work over many orders: returns false for a damaged one, which `sluice doctor` reports.
template <class Load>
[[nodiscard]] bool skip_damaged(Load load) {
    try {
        return load();
    } catch (const DamagedRow& damaged) {
        if (!damaged.order()) {
            throw;
        }
        return false;
    }
}
[[nodiscard]] inline bool load_unless_damaged(LedgerReader& ledger, const OrderKey& key,
                                              OrderState& state) {
    return skip_damaged([&] { return load_sound_order(ledger, key, state); });
}

}  // namespace sluice
