// Dead letters: inputs that could not be applied, each with the first thing that is wrong with it.
// The input counts as done; a person corrects the cause and replays it (books section 1).
#pragma once

#include <functional>
#include <span>
#include <string>

#include "core/apply/applied.hpp"
#include "core/commands/commands.hpp"
#include "core/ledger/ledger.hpp"
#include "core/protocol/record.hpp"

namespace sluice {

/// The outcome of an input that becomes a dead letter.
[[nodiscard]] Applied dead(std::string reason);
/// Of a body that the endpoint's rules refuse: the first thing that is wrong with it.
[[nodiscard]] std::string refusal(std::span<const FieldError> errors);

/// The letter that says why an input could not be applied.
/// @param meta  nullptr: its record is unreadable.
[[nodiscard]] DeadLetter letter_of(const Input& input, const RecordMeta* meta, std::string reason);

/// What a letter holds, to be applied again. Points into it.
[[nodiscard]] Input input_of(const DeadLetter& letter);
/// Commands that act on other inputs are not replayed: what they would find has changed.
[[nodiscard]] bool is_final(const DeadLetter& letter) noexcept;
/// It stays dead: one attempt more, and today's reason.
void put_back(DeadLetter letter, std::string reason, LedgerTxn& txn);

/// @return true if the letter could be applied and is gone.
using ReplayLetter = std::function<bool(DeadLetter letter)>;
/// Those that the command names, or all. kNotFound: one of those named is not there.
/// @return what came of it, in words.
[[nodiscard]] Result<std::string> replay_letters(const DeadReplay& command,
                                                 const ReplayLetter& replay, LedgerTxn& txn);

}  // namespace sluice
