// Approvals: a pending command is run once another actor approves it, or ends when it is withdrawn
// (rules H3, P3).
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>

#include "core/approvals/subject.hpp"
#include "core/commands/commands.hpp"
#include "core/orders/reply.hpp"
#include "core/programs/policy.hpp"
#include "core/values/result.hpp"

namespace sluice {

/// Refuses an actor who approves an own request, or who is not one of the policy's approvers.
/// @param what  The request's object, for the message.
[[nodiscard]] Status check_approver(const CommandContext& context, const std::string& requester,
                                    const std::string& what, const Policy& policy);

/// Refuses an approval that proves no person: one without a login by its name alone, or one whose
/// requester has none either.
/// @param given      The approval, before a signature named its approver.
[[nodiscard]] Status check_person(const Approve& command, const CommandContext& given,
                                  const std::string& requester);

/// Refuses if the approver saw something else than what would be approved now.
[[nodiscard]] Status check_expected(const Approve& command, const Digest256& digest);

/// The object of a pending command: shown to approvers, and unchanged until the approval.
struct PendingSubject {
    std::optional<Money> amount{};
    ProgramId program{};
    CreatorId creator{};
};
/// Stores the command as pending. Returns the reply that says so.
[[nodiscard]] Reply wait_for_approval(const CommandContext& context, const PendingSubject& subject,
                                      LedgerTxn& txn);

/// Returns the account's command of this id if it is pending, or was.
[[nodiscard]] std::optional<PendingApproval> find_pending(const std::string& id,
                                                          const CommandContext& context,
                                                          LedgerTxn& txn);
/// Runs a command with `approved` set.
using RunApproved = std::function<Result<Reply>(const Command&, const CommandContext&)>;
/// Returns what the pending command would change now.
using EffectNow = std::function<ShownEffect(const PendingApproval&, const Command&)>;
/// Approves and runs a pending command.
[[nodiscard]] Result<Reply> approve_pending(const Approve& command, PendingApproval row,
                                            const CommandContext& context, const RunApproved& run,
                                            const EffectNow& effect, ProgramCache& programs,
                                            LedgerTxn& txn);
Verb<Withdraw> withdraw;
/// Sets `row`, the answer to a repeated key, to the pending command's state: pending (kPending),
/// approved (kRepeated) or withdrawn (kRefused). The exit status then tells the person who repeats
/// the command whether anything was posted.
void report_approval(const std::set<AccountNumber>& accounts, CommandRow& row,
                     LedgerReader& ledger);

}  // namespace sluice
