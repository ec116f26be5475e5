// Dead letters: inputs that could not be applied, each with its first fault. The input counts as
// done; a person corrects the cause and replays it.
#pragma once

#include <functional>
#include <string>

#include "core/commands/commands.hpp"
#include "core/ledger/ledger.hpp"
#include "core/protocol/record.hpp"

namespace sluice {

/// Makes the letter of an input that could not be applied.
/// @param meta  nullptr if its record is unreadable.
[[nodiscard]] DeadLetter letter_of(const Input& input, const RecordMeta* meta, std::string reason);

/// Returns the letter's input, to be applied again. Points into the letter.
[[nodiscard]] Input input_of(const DeadLetter& letter);
/// Returns true if the letter is never replayed, because its command acts on other inputs, which
/// have changed by then.
[[nodiscard]] bool is_final(const DeadLetter& letter) noexcept;
/// Stores the letter again with one attempt more and the new reason.
void put_back(DeadLetter letter, std::string reason, LedgerTxn& txn);

/// Returns true if the letter could be applied and is erased.
using ReplayLetter = std::function<bool(DeadLetter letter)>;
/// Replays the letters that the command names, or all. Returns the counts in words, or kNotFound if
/// a named letter does not exist.
[[nodiscard]] Result<std::string> replay_letters(const DeadReplay& command,
                                                 const ReplayLetter& replay, LedgerTxn& txn);

}  // namespace sluice
