// Dead letters: inputs that could not be applied, and how their letters end.
#pragma once

#include <optional>
#include <string>

#include "core/apply/prepared_input.hpp"
#include "core/ledger/ledger.hpp"

namespace sluice {

/// Stores the letter of an input. The input counts as done; a person corrects the cause and replays
/// it.
/// @param prepared  The input, which may be unreadable.
void store_letter(const Input& input, const PreparedInput& prepared, std::string reason,
                  LedgerTxn& txn);

/// Erases a letter that was replayed or discarded. The caller counts its input again.
void erase_letter(const DeadLetter& letter, LedgerTxn& txn);

/// Ends the letters of an order that could not be translated, because a state of it was: those of
/// other inputs than `but`, unless their version is later than `version`. They
/// count as stale. Only letters of this node are found.
void end_letters(const OrderKey& order, Timestamp version, SequenceNumber but, LedgerTxn& txn);

}  // namespace sluice
