// Anomalies, written: what an event showed, and what lasts after any input (books H2).
#pragma once

#include <optional>
#include <string>

#include "core/ledger/ledger.hpp"
#include "core/orders/context.hpp"
#include "core/orders/program_cache.hpp"
#include "core/rules/order_book.hpp"

namespace sluice {

/// An order event after which anomalies are judged; nothing: another input touched the order.
struct JudgedEvent {
    bool is_first = false;
};

/// Records a momentary kind. It blocks again after an acknowledgement.
void show_anomaly(LedgerTxn& txn, OrderState& state, const ShownAnomaly& shown,
                  const Source& source);
/// Judges the lasting kinds. `state` is to be written afterwards.
/// @return bits of the kinds that hold.
std::uint32_t judge_anomalies(LedgerTxn& txn, OrderState& state, const AccountSettings& settings,
                              const Source& source, std::optional<JudgedEvent> event);
/// The same, where it is known whether a credit names the order.
std::uint32_t judge_anomalies(LedgerTxn& txn, OrderState& state, const AccountSettings& settings,
                              const Source& source, std::optional<JudgedEvent> event,
                              bool is_credited);

}  // namespace sluice
