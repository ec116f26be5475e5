// Submit: brings a person's command to the ledger and prints its result.
#pragma once

#include <optional>
#include <string>

#include "core/apply/dry_run.hpp"
#include "core/commands/commands.hpp"
#include "core/values/ids.hpp"
#include "core/values/result.hpp"
#include "program/cli/cli.hpp"
#include "program/cli/output.hpp"
#include "worker/access/command_client.hpp"

namespace sluice::cli {

struct SubmitOptions {
    std::optional<ShopId> shop;  ///< The shop that the command names; it must be in the registry.
    std::string ledger_url;      ///< --ledger
    bool no_wait = false;        ///< --no-wait
    std::optional<AccountId> account =
        {};                     ///< The account that the command names; it must be in the registry.
    std::string key = {};       ///< --key; empty means a random one.
    std::string reason = {};    ///< --reason
    bool needs_reason = false;  ///< An empty reason is refused.
};
/// Adds `--account`, which must be given, to a command that writes.
void add_account(Subcommand app, SubmitOptions& target);
/// Adds `--key`, `--ledger` and `--reason` to a command that writes.
void add_command_options(Subcommand app, SubmitOptions& target, bool needs_reason);

/// Adds `--no-wait`, for commands after which waiting orders are tried again.
void add_no_wait(Subcommand app, bool& target);

/// Appends the command to the queue, waits until it is applied and its work is done (see
/// command_client.hpp), and prints its result. A refusal is an Error with the rule's words.
/// Returns kPending if the command waits for another actor's approval; the text names its id.
[[nodiscard]] Status submit(const Frame& frame, const Command& command,
                            const SubmitOptions& options);
/// Does the same without printing.
[[nodiscard]] Result<worker::CommandResult> submit_quietly(const Frame& frame,
                                                           const Command& command,
                                                           const SubmitOptions& options);

struct DryRunOptions {
    bool wanted = false;  ///< --dry-run
    Format format = Format::kTable;
};
/// Adds `--dry-run`, and `--format` for what it prints.
void add_dry_run(Subcommand app, DryRunOptions& target);

/// Calls submit(). A trial instead prints, per program, creator and currency, the number of orders
/// that would change, their commission before and after, and the difference; a refusal is an Error
/// with the words of the rule.
[[nodiscard]] Status submit_or_try(const Frame& frame, const Command& command,
                                   const SubmitOptions& options, const DryRunOptions& trial);

/// Adds the account that the id belongs to, unless the options name one. Returns kNotFound if the
/// ledger knows no such id.
[[nodiscard]] Result<SubmitOptions> with_account_of(const Frame& frame, const std::string& id,
                                                    SubmitOptions options);

/// Adds `--account A`, which may be left out.
void add_id_account(Subcommand app, SubmitOptions& target);

template <class What>
struct Written {
    What command;
    SubmitOptions submit;
};

/// Returns the options. A command whose account is that of its id gets that account.
template <class What>
Result<SubmitOptions> options_of(const Frame& frame, const Written<What>& written) {
    if constexpr (requires { written.command.id; }) {
        return with_account_of(frame, written.command.id, written.submit);
    } else {
        return written.submit;
    }
}

/// Runs a command that needs nothing but submit().
template <class What>
Status run_written(const Frame& frame, const Written<What>& written) {
    const auto options = options_of(frame, written);
    return options.ok() ? submit(frame, written.command, *options) : Status(options.error());
}

/// A command that has `--dry-run`.
template <class What>
struct Tried : Written<What> {
    DryRunOptions dry_run;
};

/// Adds `--dry-run`, and the options of a command that writes and needs a reason.
template <class What>
void add_tried_options(Subcommand app, Tried<What>& target) {
    add_dry_run(app, target.dry_run);
    add_command_options(app, target.submit, true);
}

template <class What>
Status run_tried(const Frame& frame, const Tried<What>& tried) {
    const auto options = options_of(frame, tried);
    return options.ok() ? submit_or_try(frame, tried.command, *options, tried.dry_run)
                        : Status(options.error());
}

}  // namespace sluice::cli
