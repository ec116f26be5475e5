// Commands of people, applied: the entry with its idempotency keys (rule K1), and a function for
// each verb. A verb returns an Error if it refuses, and has then changed nothing.
#pragma once

#include <functional>
#include <string>

#include "core/commands/commands.hpp"
#include "core/ledger/ledger.hpp"
#include "core/orders/change.hpp"
#include "core/values/result.hpp"

namespace sluice {

/// Applies dead letters again: they are inputs of any kind, so the caller passes this in.
using Replay = std::function<Result<std::string>(const DeadReplay&)>;

/// Runs the command, or answers for its key if that was used before. Stores and returns the result.
[[nodiscard]] CommandRow apply_command(const Request& request, const CommandContext& context,
                                       const Replay& replay, ProgramCache& programs,
                                       LedgerTxn& txn);
/// Makes the result of a command that cannot even be tried; the caller stores it.
[[nodiscard]] CommandRow refused_row(const CommandContext& context, std::string why);

// ---- Money by hand (J1, H3): posted now, or by the approval of another actor (reply kPending) ---

[[nodiscard]] Result<Reply> adjust_order(const Adjust& command, const CommandContext& context,
                                         ProgramCache& programs, LedgerTxn& txn);
[[nodiscard]] Result<Reply> credit_creator(const Credit& command, const CommandContext& context,
                                           ProgramCache& programs, LedgerTxn& txn);
[[nodiscard]] Result<Reply> import_openings(const OpeningImport& command,
                                            const CommandContext& context, ProgramCache& programs,
                                            LedgerTxn& txn);
[[nodiscard]] Result<Reply> write_off(const WriteOff& command, const CommandContext& context,
                                      ProgramCache& programs, LedgerTxn& txn);
[[nodiscard]] Result<Reply> reverse_money(const Reverse& command, const CommandContext& context,
                                          ProgramCache& programs, LedgerTxn& txn);

// ---- Attribution by hand (A3) -------------------------------------------------------------------

[[nodiscard]] Result<Reply> attribute_order(const Attribute& command, const CommandContext& context,
                                            ProgramCache& programs, LedgerTxn& txn);
/// Detaches one order now, or queues every order attributed by `cause` as background work.
[[nodiscard]] Result<Reply> detach(const Detach& command, const CommandContext& context,
                                   ProgramCache& programs, LedgerTxn& txn);
/// Detaches one order of `detach --cause`, unless another command attributed it meanwhile. Returns
/// whether something changed.
bool detach_attributed(const OrderKey& order, const std::string& cause, bool retry,
                       const Source& source, ProgramCache& programs, LedgerTxn& txn);

// ---- Holds, rejection, anomalies, version reset (H1, H2, O5) ------------------------------------

[[nodiscard]] Result<Reply> hold(const Hold& command, const CommandContext& context,
                                 ProgramCache& programs, LedgerTxn& txn);
[[nodiscard]] Result<Reply> release(const Release& command, const CommandContext& context,
                                    ProgramCache& programs, LedgerTxn& txn);
[[nodiscard]] Result<Reply> reject_order(const Reject& command, const CommandContext& context,
                                         ProgramCache& programs, LedgerTxn& txn);
[[nodiscard]] Result<Reply> acknowledge_anomaly(const AnomalyAck& command,
                                                const CommandContext& context,
                                                ProgramCache& programs, LedgerTxn& txn);
[[nodiscard]] Result<Reply> reset_order(const OrderReset& command, const CommandContext& context,
                                        ProgramCache& programs, LedgerTxn& txn);

// ---- Programs, creators, clicks (A1, A2, H3) ----------------------------------------------------

/// A change of a policy that has approvals waits for another actor (reply kPending).
[[nodiscard]] Result<Reply> apply_programs(const ProgramApply& command,
                                           const CommandContext& context, ProgramCache& programs,
                                           LedgerTxn& txn);
[[nodiscard]] Result<Reply> import_creators(const CreatorImport& command,
                                            const CommandContext& context, LedgerTxn& txn);
[[nodiscard]] Result<Reply> remove_creator(const CreatorRemove& command,
                                           const CommandContext& context, LedgerTxn& txn);
[[nodiscard]] Result<Reply> import_clicks(const ClickImport& command, const CommandContext& context,
                                          LedgerTxn& txn);
[[nodiscard]] Result<Reply> set_creator(const CreatorSet& command, const CommandContext& context,
                                        LedgerTxn& txn);
[[nodiscard]] Result<Reply> rename_creator(const CreatorRename& command,
                                           const CommandContext& context, ProgramCache& programs,
                                           LedgerTxn& txn);

// ---- Periods, forgetting ------------------------------------------------------------------------

/// Closes the months of an account before `until` (S2). There is no reopening.
[[nodiscard]] Result<Reply> close_period(const PeriodClose& command, const CommandContext& context,
                                         ProgramCache& programs, LedgerTxn& txn);
/// Leaves a task (F1, F2): the ids that the ledger's rows hold are replaced before the next input
/// is applied, the archive of each node by its worker. Throws ForgetNotSearched.
[[nodiscard]] Result<Reply> forget(const Forget& command, const CommandContext& context,
                                   LedgerTxn& txn);

}  // namespace sluice
