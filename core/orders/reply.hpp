// Reply: the answer of a command, and the form of the functions that run commands.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "core/ledger/command_rows.hpp"
#include "core/ledger/ledger.hpp"
#include "core/orders/context.hpp"
#include "core/orders/program_cache.hpp"
#include "core/values/result.hpp"

namespace sluice {

/// The result of a command: done, nothing to do, or pending.
struct Reply {
    CommandOutcome outcome = CommandOutcome::kDone;
    std::string text;
};
[[nodiscard]] inline Reply done(std::string text) {
    return {CommandOutcome::kDone, std::move(text)};
}
[[nodiscard]] inline Reply nothing(std::string text) {
    return {CommandOutcome::kNothing, std::move(text)};
}
/// The ledger does not allow the command.
[[nodiscard]] inline Error refused(std::string text) {
    return conflict(std::move(text));
}

/// Runs a command of one type. Returns an Error if it refuses, and has then changed nothing.
template <class Type>
using Verb = Result<Reply>(const Type& command, const CommandContext& context,
                           ProgramCache& programs, LedgerTxn& txn);

/// Refuses a reason that is empty or longer than 1000 bytes.
[[nodiscard]] Status check_reason(const CommandContext& context);

/// "1 order", "2 orders".
[[nodiscard]] std::string counted(std::size_t count, const char* one, const char* many);

}  // namespace sluice
