// Anomalies: writes those that an event showed, and judges those that last (rule H2).
#pragma once

#include <optional>

#include "core/ledger/ledger.hpp"
#include "core/orders/context.hpp"
#include "core/orders/program_cache.hpp"
#include "core/rules/order_book.hpp"
#include "core/shops/source.hpp"

namespace sluice {

/// The order event after which anomalies are judged; nullopt after another input.
struct JudgedEvent {
    bool is_first = false;
};

/// Writes the row, and lists it for attention while it shows and is not acknowledged.
/// @param stored  The row as it is stored; count 0 means that it is new.
void put_anomaly(LedgerTxn& txn, const Anomaly& row, const Anomaly& stored);

// An anomaly that begins to need attention, because its kind shows or blocks again, has a memo
// entry in the journal.

/// Records a momentary kind. It blocks again, even after an acknowledgement. The caller writes
/// `state`.
void show_anomaly(LedgerTxn& txn, OrderState& state, const AccountSettings& settings,
                  const ShownAnomaly& shown, const Source& source);
/// Records the notes of an order's newest version, and ends those of an earlier one. An
/// acknowledged note stays acknowledged, because every later version repeats it. Returns the bits
/// of the notes. The caller writes `state`.
std::uint32_t show_notes(LedgerTxn& txn, OrderState& state, const AccountSettings& settings,
                         SourceNotes notes, const Source& source);
/// Judges the lasting kinds, and returns the bits of those that hold. The caller writes `state`.
std::uint32_t judge_anomalies(LedgerTxn& txn, OrderState& state, const AccountSettings& settings,
                              const Source& source, std::optional<JudgedEvent> event);
/// Judges the lasting kinds for a caller that knows whether a credit names the order, and returns
/// the bits of those that hold. The caller writes `state`.
std::uint32_t judge_anomalies(LedgerTxn& txn, OrderState& state, const AccountSettings& settings,
                              const Source& source, std::optional<JudgedEvent> event,
                              bool is_credited);

/// Acknowledges the anomaly for what raised it now (K6). The caller writes `state` and `row`.
void acknowledge_anomaly(OrderState& state, Anomaly& row, const Source& source);

}  // namespace sluice
