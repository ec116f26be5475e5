// Submit: brings a person's command to the ledger and prints its result.
#pragma once

#include <optional>
#include <string>

#include "core/commands/commands.hpp"
#include "core/values/ids.hpp"
#include "core/values/result.hpp"
#include "lmdb_store/registry/registry.hpp"
#include "worker/access/command_client.hpp"
#include "worker/cli/cli.hpp"

namespace sluice::cli {

struct SubmitOptions {
    std::optional<ShopId> shop;  ///< Of commands that name one; it must be in the registry.
    std::string ledger_url;      ///< --ledger
    bool no_wait = false;        ///< --no-wait
    std::optional<AccountId> account = {};  ///< Of commands that name an account; likewise.
    std::string key = {};                   ///< --key; empty: one is drawn.
    std::string reason = {};                ///< --reason
    bool needs_reason = false;              ///< An empty one is refused.
};
/// Adds `--key`, `--ledger` and `--reason` to a command that writes.
void add_command_options(Subcommand app, SubmitOptions& target, bool needs_reason);

/// Adds `--no-wait`, for commands after which waiting orders are tried again.
void add_no_wait(Subcommand app, bool& target);

/// Appends the command to the queue and waits until it is applied and its work is done (see
/// worker/access/command_client.hpp), with lines of progress. Prints its result; a refusal is an
/// Error with the words of the rule that refused it.
/// kWaiting: it is recorded and waits for another actor's approval; the text says under which id.
[[nodiscard]] Status submit(const Frame& frame, const Command& command,
                            const SubmitOptions& options);
/// The same, without printing.
[[nodiscard]] Result<worker::CommandResult> submit_quietly(const Frame& frame,
                                                           const Command& command,
                                                           const SubmitOptions& options);

/// Who runs the command, with the numbers of the account and shop that it names; or what is wrong
/// with these or with the reason.
[[nodiscard]] Result<worker::CommandSender> sender_of(const Frame& frame,
                                                      const SubmitOptions& options);

/// The user who runs the program, as the audit trail names them: who logged in
/// (/proc/self/loginuid, which survives sudo), else the real user. No option sets it.
[[nodiscard]] std::string current_user();

/// The number of an account of the registry; kNotFound names it.
[[nodiscard]] Result<AccountNumber> account_number(const Frame& frame, const AccountId& account);

/// Looks a row up; kNotFound names what is missing.
[[nodiscard]] Result<store::AccountRow> find_account(store::Registry& registry,
                                                     const AccountId& id);
[[nodiscard]] Result<store::ShopRow> find_shop(store::Registry& registry, const ShopId& id);

}  // namespace sluice::cli
