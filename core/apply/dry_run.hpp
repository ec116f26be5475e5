// Dry run: what a command would change, without changing it (rule A4), and what an approver is
// shown.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/apply/changes.hpp"
#include "core/approvals/subject.hpp"
#include "core/commands/commands.hpp"
#include "core/ledger/ledger.hpp"
#include "core/orders/reply.hpp"
#include "core/values/result.hpp"

namespace sluice {

/// Questions about a command that is tried.
struct Trial {
    /// Asked after ever more of the work that the command leaves, whether the rest is tried as
    /// well.
    std::function<bool(Overlay& after)> continues;
    /// Compares the ledger with the command's changes to the one without them.
    std::function<void(Overlay& after, LedgerReader& before)> compare;
};
/// Runs the command with the work that it leaves, over the reader and changes in memory, as if
/// another actor had approved it. Work of earlier inputs is finished first. Returns the result that
/// the command would have, or its refusal. Throws LedgerFailure.
/// @param context  The function sets its sequence number, and its command id if it has none.
[[nodiscard]] Result<Reply> try_command(const Command& command, CommandContext context,
                                        LedgerReader& ledger, const Trial& trial);

/// Adds up, order by order, what two states of a ledger say.
class Differences {
public:
    /// Adds one order; nullptr stands for an order that does not exist.
    void add(const OrderState* before, const OrderState* after);
    [[nodiscard]] std::vector<DryRunRow> rows() const;

private:
    using Key = std::tuple<ProgramId, CreatorId, Currency>;
    struct Share {
        Decimal accrued;
        bool is_owner = false;  ///< The order is attributed to the creator.
    };
    using Shares = std::map<Key, Share>;

    [[nodiscard]] static Shares shares_of(const OrderState* order);

    std::map<Key, DryRunRow> rows_;
};

struct DryRun {
    std::string text;             ///< The result that the command would have.
    std::vector<DryRunRow> rows;  ///< By program, creator, currency.
    Digest256 digest{};           ///< digest_of() the changes.
};

/// Tries the command with all the work that it leaves: see try_command().
[[nodiscard]] Result<DryRun> dry_run(const Command& command, const CommandContext& context,
                                     LedgerReader& ledger);

// ---- Approvals ----------------------------------------------------------------------------------

/// A subject as an approver sees it. The digest of a command that waits has what it would change at
/// that moment: whatever changes an amount, a payee or a rate in between voids the approval (K13).
struct ShownApproval {
    ApprovalSubject subject;
    /// Set for a command that waits: what it would do now, or its refusal.
    std::optional<Result<DryRun>> effect{};
};
/// Returns kNotFound if the account has no such command, payout or payout run.
/// @param payees  As in Approve.
[[nodiscard]] Result<ShownApproval> shown_approval(LedgerReader& ledger, AccountNumber account,
                                                   const AccountId& account_id,
                                                   const std::string& id, Timestamp now,
                                                   const std::string& payees = {});

/// Returns what a command that waits would do if it were approved now.
[[nodiscard]] Result<DryRun> effect_of(const PendingApproval& row, const Command& command,
                                       const AccountId& account_id, Timestamp now,
                                       LedgerReader& ledger);
/// Returns what an approval of the command names and signs of its effect.
[[nodiscard]] ShownEffect shown_effect(const Result<DryRun>& effect);

}  // namespace sluice
