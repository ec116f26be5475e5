#include "worker/access/submit.hpp"

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <fstream>

#include "core/apply/apply.hpp"
#include "core/protocol/signature.hpp"
#include "lmdb_store/queue/queue.hpp"
#include "os/random/random_bytes.hpp"
#include "worker/access/command_client.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/cli/cli_values.hpp"
#include "worker/cli/output.hpp"
#include "worker/cli/progress.hpp"
#include "worker/system/privileges.hpp"
#include "worker/system/stop_signal.hpp"

namespace sluice::cli {
namespace {

/// A wait for the database that shows, and one that a stop ends.
constexpr std::chrono::milliseconds kTellAfter{1000};
constexpr std::chrono::milliseconds kStopAfter{2000};

/// The user who logged in; nothing: none did (a service).
std::optional<uid_t> login_user() {
    constexpr uid_t kUnset = static_cast<uid_t>(-1);
    std::ifstream file("/proc/self/loginuid");
    uid_t user = kUnset;
    return file >> user && user != kUnset ? std::optional(user) : std::nullopt;
}

Status check_reason(const SubmitOptions& options) {
    if ((options.needs_reason && options.reason.empty()) ||
        options.reason.size() > kReasonBytesMax) {
        return Error{ErrorCode::kInvalid, "--reason has to say why, in 1 to 1000 bytes"};
    }
    return Status::success();
}

}  // namespace

Result<worker::CommandSender> sender_of(const Frame& frame, const SubmitOptions& options) {
    if (Status reason = check_reason(options); !reason.ok()) {
        return reason.error();
    }
    worker::CommandSender sender;
    sender.actor = current_user();
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
        return Error{ErrorCode::kInvalid, "shop " + options.shop->str() + " belongs to account " +
                                              shop->account_id.str() + ", not to " +
                                              options.account->str()};
    }
    sender.account_number = shop->account_number;
    sender.shop_number = shop->number;
    sender.account_id = shop->account_id.str();
    sender.shop_id = shop->shop_id.str();
    return sender;
}

Result<worker::CommandResult> submit_quietly(const Frame& frame, const Command& command,
                                             const SubmitOptions& options) {
    const auto paths = frame.paths();
    auto sender = sender_of(frame, options);
    if (!sender.ok()) {
        return sender.error();
    }
    worker::CommandOptions how = worker::embedded_commands(paths);
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
    if (Status became = become_store_owner(paths); !became.ok()) {
        return became.error();
    }
    auto queue = store::Queue::open(paths, queue_options());
    if (!queue.ok()) {
        return queue.error();
    }
    const Request request{options.key.empty() ? random_hex(16) : options.key, options.reason,
                          command};
    auto result = worker::run_command(paths, *queue.value(), request, sender.value(), how, stop);
    progress.clear();
    if (!result.ok()) {
        // Its result is not known here: with the same key it can be asked for again.
        return Error{result.error().code,
                     result.error().message + "; ask again with --key " + request.key};
    }
    if (!result->ok) {
        return Error{ErrorCode::kInvalid, result->text};
    }
    return result;
}

Status submit(const Frame& frame, const Command& command, const SubmitOptions& options) {
    const auto result = submit_quietly(frame, command, options);
    if (!result.ok()) {
        return result.error();
    }
    if (result->outcome == CommandOutcome::kWaiting) {
        return Error{ErrorCode::kWaiting, result->text};
    }
    const std::string left = result->work_left == 0 ? "" : "; " + work_text(result->work_left);
    std::printf("%s%s\n", printable(result->text).c_str(), left.c_str());
    return Status::success();
}

void add_command_options(Subcommand app, SubmitOptions& target, bool needs_reason) {
    add_value(app, "--key", "K", target.key, parse_admin_id,
              "The same key and content again gives the first result; up to 128 id characters");
    const Option reason = add_text(app, "--reason", "TEXT", target.reason,
                                   "Why; kept with what it books, with who ran it");
    target.needs_reason = needs_reason;
    if (needs_reason) {
        reason.required();
    }
    add_ledger(app, target.ledger_url);
}

void add_no_wait(Subcommand app, bool& target) {
    add_flag(app, "--no-wait", target,
             "Do not wait until waiting orders were tried again; say what is left");
}

std::string current_user() {
    const uid_t user = login_user().value_or(::getuid());
    const passwd* const entry = ::getpwuid(user);
    return entry != nullptr ? entry->pw_name : "uid " + std::to_string(user);
}

Result<AccountNumber> account_number(const Frame& frame, const AccountId& account) {
    auto registry = store::Registry::open(frame.paths(), store::Registry::Mode::kReadOnly);
    if (!registry.ok()) {
        return registry.error();
    }
    const auto row = find_account(*registry.value(), account);
    return row.ok() ? Result<AccountNumber>(row->number) : Result<AccountNumber>(row.error());
}

Result<store::AccountRow> find_account(store::Registry& registry, const AccountId& id) {
    auto row = registry.account(id);
    if (!row.ok()) {
        return row.error();
    }
    if (!row.value()) {
        return Error{ErrorCode::kNotFound, "there is no account " + id.str()};
    }
    return *row.value();
}

Result<store::ShopRow> find_shop(store::Registry& registry, const ShopId& id) {
    auto row = registry.shop(id);
    if (!row.ok()) {
        return row.error();
    }
    if (!row.value()) {
        return Error{ErrorCode::kNotFound, "there is no shop " + id.str()};
    }
    return *row.value();
}

}  // namespace sluice::cli
