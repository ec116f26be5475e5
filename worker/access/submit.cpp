#include "worker/access/submit.hpp"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>

#include "core/apply/apply.hpp"
#include "lmdb_store/queue/queue.hpp"
#include "worker/access/command_client.hpp"
#include "worker/access/ledger_access.hpp"
#include "worker/cli/output.hpp"
#include "worker/cli/progress.hpp"
#include "worker/system/privileges.hpp"
#include "worker/system/stop_signal.hpp"

namespace sluice::cli {
namespace {

Result<worker::CommandSender> sender_of(const Frame& frame, const SubmitOptions& options) {
    worker::CommandSender sender;
    sender.actor = current_user();
    if (!options.shop) {
        return sender;
    }
    auto registry = store::Registry::open(frame.paths(), store::Registry::Mode::kReadOnly);
    if (!registry.ok()) {
        return registry.error();
    }
    auto shop = find_shop(*registry.value(), *options.shop);
    if (!shop.ok()) {
        return shop.error();
    }
    sender.account_number = shop->account_number;
    sender.shop_number = shop->number;
    sender.account_id = shop->account_id.str();
    sender.shop_id = shop->shop_id.str();
    return sender;
}

}  // namespace

Status submit(const Frame& frame, const Command& command, const SubmitOptions& options) {
    const auto paths = frame.paths();
    auto sender = sender_of(frame, options);
    if (!sender.ok()) {
        return sender.error();
    }
    worker::CommandOptions how = worker::embedded_commands(paths);
    auto reading = ledger_for_reading(frame, options.ledger_url);
    auto writing = ledger_for_writing(frame, options.ledger_url);
    if (!reading.ok() || !writing.ok()) {
        return reading.ok() ? writing.error() : reading.error();
    }
    how.open_for_reading = std::move(reading).value();
    how.open_for_writing = std::move(writing).value();
    how.leaves_work = options.no_wait;
    Progress progress;
    how.progress = [&progress](std::uint64_t left) {
        if (left != 0 && progress.is_due()) {
            progress.show(work_text(left));
        }
    };
    if (Status became = become_store_owner(paths); !became.ok()) {
        return became;
    }
    auto queue = store::Queue::open(paths, queue_options());
    if (!queue.ok()) {
        return queue.error();
    }
    auto result = worker::run_command(paths, *queue.value(), command, sender.value(), how,
                                      catch_stop_signals());
    progress.clear();
    if (!result.ok()) {
        return result.error();
    }
    if (!result->ok) {
        return Error{ErrorCode::kInvalid, result->text};
    }
    const std::string left = result->work_left == 0 ? "" : "; " + work_text(result->work_left);
    std::printf("%s%s\n", printable(result->text).c_str(), left.c_str());
    return Status::success();
}

void add_no_wait(CLI::App& app, bool& target) {
    app.add_flag("--no-wait", target,
                 "Do not wait until waiting orders were tried again; say what is left");
}

std::string current_user() {
    const char* const behind_sudo = ::getuid() == 0 ? std::getenv("SUDO_USER") : nullptr;
    if (behind_sudo != nullptr && *behind_sudo != '\0') {
        return behind_sudo;
    }
    const passwd* const entry = ::getpwuid(::getuid());
    return entry != nullptr ? entry->pw_name : "uid " + std::to_string(::getuid());
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
