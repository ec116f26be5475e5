#include "worker/access/submit.hpp"

#include <chrono>
#include <cstdio>

#include "core/apply/work.hpp"
#include "core/lists/approvals.hpp"
#include "core/lists/names.hpp"
#include "lmdb_store/queue/queue.hpp"
#include "os/clock/clock.hpp"
#include "os/random/random_bytes.hpp"
#include "program/cli/cli_values.hpp"
#include "program/cli/progress.hpp"
#include "program/system/identity.hpp"
#include "program/system/process.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/access/registry_access.hpp"

namespace sluice::cli {

namespace {

/// Durations of a wait for the database after which the command shows progress, and after which a
/// stop signal ends it.
constexpr std::chrono::milliseconds kTellAfter{1000};
constexpr std::chrono::milliseconds kStopAfter{2000};

/// Looks up the account and shop that the command names. Returns an error if one of them or the
/// reason is wrong.
Result<worker::CommandSender> sender_of(const Frame& frame, const SubmitOptions& options) {
    if ((options.needs_reason && options.reason.empty()) ||
        options.reason.size() > kReasonBytesMax) {
        return invalid("--reason has to be 1 to 1000 bytes long");
    }
    worker::CommandSender sender{.actor = current_user()};
    if (!options.shop && !options.account) {
        return sender;
    }
    auto registry = store::Registry::open(frame.paths(), store::Registry::Mode::kReadOnly);
    if (!registry.ok()) {
        return registry.error();
    }
    if (!options.shop) {
        auto account = find_account(*registry.value(), *options.account);
        if (!account.ok()) {
            return account.error();
        }
        sender.account_number = account->number;
        sender.account_id = account->account_id.str();
        return sender;
    }
    auto shop = find_shop(*registry.value(), *options.shop);
    if (!shop.ok()) {
        return shop.error();
    }
    if (options.account && *options.account != shop->account_id) {
        return invalid("shop " + options.shop->str() + " belongs to account " +
                       shop->account_id.str() + ", not to " + options.account->str());
    }
    sender.account_number = shop->account_number;
    sender.shop_number = shop->number;
    sender.account_id = shop->account_id.str();
    sender.shop_id = shop->shop_id.str();
    return sender;
}

}  // namespace

Result<worker::CommandResult> submit_quietly(const Frame& frame, const Command& command,
                                             const SubmitOptions& options) {
    const auto paths = frame.paths();
    auto sender = sender_of(frame, options);
    if (!sender.ok()) {
        return sender.error();
    }
    worker::CommandOptions how;
    const std::atomic<bool>& stop = catch_stop_signals();
    Progress progress;
    pg::LedgerOptions patience;
    patience.waiting = [&](std::chrono::milliseconds waited) {
        if (waited >= kTellAfter && progress.is_due()) {
            progress.show("the database has not answered for " +
                          std::to_string(waited.count() / 1000) + " s");
        }
        return !stop || waited < kStopAfter;
    };
    auto reading = ledger_for_reading(frame, options.ledger_url, ReadFrom::kPrimary);
    auto writing = ledger_for_writing(frame, options.ledger_url, patience);
    if (!reading.ok() || !writing.ok()) {
        return reading.ok() ? writing.error() : reading.error();
    }
    how.open_for_reading = std::move(reading).value();
    how.open_for_writing = std::move(writing).value();
    how.leaves_work = options.no_wait;
    how.progress = [&progress](std::uint64_t left) {
        if (left != 0 && progress.is_due()) {
            progress.show(work_text(left));
        }
    };
    auto queue = store::Queue::open(paths, queue_options());
    if (!queue.ok()) {
        return queue.error();
    }
    const Request request{options.key.empty() ? random_hex(16) : options.key, options.reason,
                          command};
    const auto run = [&]() -> Result<worker::CommandResult> {
        if (!std::holds_alternative<AcceptGap>(command)) {
            return worker::run_command(paths, **queue, request, *sender, how, stop);
        }
        const auto applied = applied_seq(frame, options.ledger_url);
        return applied.ok()
                   ? worker::accept_gap(paths, **queue, *applied, request, *sender, how, stop)
                   : Result<worker::CommandResult>(applied.error());
    };
    auto result = run();
    progress.clear();
    if (!result.ok()) {
        // The result is unknown here; repeating the command with the same key returns it.
        return Error{result.error().code,
                     result.error().message + "; repeat the command with --key " + request.key};
    }
    if (!result->ok) {
        return invalid(result->text);
    }
    return result;
}

Status submit(const Frame& frame, const Command& command, const SubmitOptions& options) {
    const auto result = submit_quietly(frame, command, options);
    if (!result.ok()) {
        return result.error();
    }
    if (result->outcome == CommandOutcome::kPending) {
        return Error{ErrorCode::kPending, result->text};
    }
    const std::string left = result->work_left == 0 ? "" : "; " + work_text(result->work_left);
    std::printf("%s%s\n", printable(result->text).c_str(), left.c_str());
    return Status::success();
}

void add_account(Subcommand app, SubmitOptions& target) {
    add_id(app, "--account", "A", target.account.emplace(), "Account").required();
}

void add_command_options(Subcommand app, SubmitOptions& target, bool needs_reason) {
    add_id(app, "--key", "K", target.key,
           "Idempotency key: repeating the command returns the first result (default: random; "
           "at most 128 id characters)");
    const Option reason =
        add_value(app, "--reason", "TEXT", target.reason, parse_typed,
                  "Reason, recorded with the journal entries and the actor (1 to 1000 bytes)");
    target.needs_reason = needs_reason;
    if (needs_reason) {
        reason.required();
    }
    add_ledger(app, target.ledger_url);
}

void add_no_wait(Subcommand app, bool& target) {
    add_flag(app, "--no-wait", target,
             "Return before orders are attributed again, and report how many are left");
}

void add_dry_run(Subcommand app, DryRunOptions& target) {
    const Option wanted =
        add_flag(app, "--dry-run", target.wanted,
                 "Change nothing; print the differences by program, creator and currency");
    add_format(app, target.format, "Output format of --dry-run (default: table)").needs(wanted);
}

Status submit_or_try(const Frame& frame, const Command& command, const SubmitOptions& options,
                     const DryRunOptions& trial) {
    if (!trial.wanted) {
        return submit(frame, command, options);
    }
    const auto sender = sender_of(frame, options);
    if (!sender.ok()) {
        return sender.error();
    }
    if (Status readable = check_request({{}, options.reason, command}); !readable.ok()) {
        return readable;
    }
    CommandContext context;
    context.source.received_at = now();
    context.source.note = options.reason;
    context.source.actor = sender->actor;
    context.account = sender->account_number;
    context.shop = sender->shop_number;
    context.account_id = AccountId(sender->account_id);
    context.shop_id = ShopId(sender->shop_id);
    return with_snapshot(
        frame, options.ledger_url, ReadFrom::kPrimary, [&](LedgerReader& ledger) -> Status {
            const auto tried = dry_run(command, context, ledger);
            if (!tried.ok()) {
                return tried.error();
            }
            const bool is_table = trial.format == Format::kTable;
            if (!tried->rows.empty() || !is_table) {
                list_all(trial.format, lists::difference_list(), tried->rows);
            }
            if (is_table) {
                std::printf("dry run, nothing was changed: %s%s\n", printable(tried->text).c_str(),
                            tried->rows.empty() ? "; no change to any order's commission" : "");
            }
            return Status::success();
        });
}

Result<SubmitOptions> with_account_of(const Frame& frame, const std::string& id,
                                      SubmitOptions options) {
    if (options.account) {
        return options;
    }
    return with_snapshot(frame, options.ledger_url, ReadFrom::kPrimary,
                         [&](LedgerReader& ledger) -> Result<SubmitOptions> {
                             options.account = lists::account_of(ledger, id);
                             if (!options.account) {
                                 return not_found("the ledger knows no " + id +
                                                  ": expected the id of a payout, a payout run or "
                                                  "a command");
                             }
                             return std::move(options);
                         });
}

void add_id_account(Subcommand app, SubmitOptions& target) {
    add_id(app, "--account", "A", target.account, "Account (default: the account of the id)");
}

}  // namespace sluice::cli
