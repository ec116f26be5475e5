// Command client: appends a person's command and waits until the worker has applied it. If no
// worker runs, this process applies it.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "core/commands/commands.hpp"
#include "core/ledger/command_rows.hpp"
#include "core/values/ids.hpp"
#include "core/values/result.hpp"
#include "lmdb_store/queue/queue.hpp"
#include "lmdb_store/store/format.hpp"
#include "worker/drain/drain.hpp"

namespace sluice::worker {

/// Fields of the command's record apart from its body.
struct CommandSender {
    std::string actor;  ///< Name of the user who runs it.
    AccountNumber account_number{};
    ShopNumber shop_number{};  ///< 0 if the command names no shop.
    std::string account_id{}, shop_id{};
};

struct CommandResult {
    SequenceNumber seq;
    bool ok = false;  ///< False if it was refused; then nothing was changed, and `text` says why.
    CommandOutcome outcome = CommandOutcome::kRefused;
    /// Id of this command, or of the earlier command with the same key, whose result is returned.
    std::string command_id;
    std::string text;  ///< One line for the person who ran it.
    /// Codes, devices and programs whose waiting orders are still to be tried again (rule A2). 0
    /// unless CommandOptions::leaves_work.
    std::uint64_t work_left = 0;
};

struct CommandOptions {
    DrainOptions drain;
    /// The ledger for reading; must not be open for writing elsewhere in this process.
    LedgerOpener open_for_reading;
    LedgerOpener open_for_writing;
    bool leaves_work = false;  ///< Do not wait for the attribution that the command causes.
    /// Receives the pieces of work that are left, many times a second. May be empty.
    std::function<void(std::uint64_t work_left)> progress = {};
};

/// Appends the command to the queue. Waits until it is applied and the orders that waited for it
/// were tried again (rule A2). If no worker runs, takes the worker's lock and applies the queue
/// itself. Blocks until then or until `stop`; the worker does the rest later.
/// Returns kFull or kNoSpace if the command was not stored, and kBusy if it was stored and is not
/// applied or not finished yet, because of `stop` or because the worker cannot apply now. The
/// message says which.
[[nodiscard]] Result<CommandResult> run_command(const store::StorePaths& paths, store::Queue& queue,
                                                const Request& request, const CommandSender& sender,
                                                const CommandOptions& options,
                                                const std::atomic<bool>& stop);

/// Puts the command into the place of the inputs that it accepts as lost, and waits as
/// run_command() does. Returns kConflict if these inputs are not the first that the queue lacks
/// after `applied`, the ledger's checkpoint.
/// @param request  An AcceptGap, with a reason.
[[nodiscard]] Result<CommandResult> accept_gap(const store::StorePaths& paths, store::Queue& queue,
                                               SequenceNumber applied, const Request& request,
                                               const CommandSender& sender,
                                               const CommandOptions& options,
                                               const std::atomic<bool>& stop);

}  // namespace sluice::worker
