// Commands of people, applied: the entry with its idempotency keys (rule K1), and the verbs, other
// than those of core/payouts and core/approvals.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "core/approvals/subject.hpp"
#include "core/commands/commands.hpp"
#include "core/ledger/ledger.hpp"
#include "core/orders/reply.hpp"
#include "core/values/result.hpp"

namespace sluice {

// ---- Guards (K13) -------------------------------------------------------------------------------

enum class GuardKind : std::uint8_t {
    kJudged = 1,    ///< Waits if its changes need an approval.
    kByPayout = 2,  ///< Each payout waits for its own approval (core/payouts/plan).
    kAnswer = 3,    ///< Answers a pending command or payout, by the rules of core/approvals.
    kByInput = 4,   ///< Applies inputs again; the guard judges each of them.
    kOwn = 5,       ///< Gives up inputs of unknown effect, so the verb itself asks for approvals.
    kFree = 6,      ///< Moves no money and no right to it: the owner of a link never changes.
};

template <class Type, class... Types>
inline constexpr bool kIsOneOf = (std::is_same_v<Type, Types> || ...);

/// Returns how a policy stops a command of this type. A type that is not named does not compile.
template <class Type>
[[nodiscard]] consteval GuardKind guard_of() {
    if constexpr (kIsOneOf<Type, PayoutClose, PayoutMove>) {
        return GuardKind::kByPayout;
    } else if constexpr (kIsOneOf<Type, Approve, Withdraw>) {
        return GuardKind::kAnswer;
    } else if constexpr (kIsOneOf<Type, DeadReplay>) {
        return GuardKind::kByInput;
    } else if constexpr (kIsOneOf<Type, AcceptGap, DeadDiscard>) {
        return GuardKind::kOwn;
    } else if constexpr (kIsOneOf<Type, Forget, LinkSet>) {
        return GuardKind::kFree;
    } else {
        static_assert(
            kIsOneOf<Type, ProgramApply, CreatorImport, CreatorRemove, CreatorSet, CreatorRename,
                     ClickImport, Adjust, Credit, Reverse, OpeningImport, WriteOff, Attribute,
                     Detach, Hold, Release, Reject, AnomalyAck, OrderReset, PeriodClose>,
            "say how a policy stops this command");
        return GuardKind::kJudged;
    }
}

/// The judgement of commands (guard.hpp). A command that is tried has none.
struct Guards {
    /// Runs a command of the kind kJudged, or stores it until another actor approves it. What takes
    /// effect counts against the limits. `accounts` are those that the command names.
    Result<Reply> (*run_judged)(const Command& command, const CommandContext& context,
                                const std::set<AccountNumber>& accounts,
                                const std::function<Result<Reply>()>& run, LedgerTxn& txn);
    /// Returns what a pending command would change if it were approved now.
    ShownEffect (*effect)(const PendingApproval& row, const Command& command,
                          const CommandContext& approval, LedgerTxn& txn);
};

// ---- Commands -----------------------------------------------------------------------------------

/// Applies dead letters again: they are inputs of any kind, so the caller passes this in.
using Replay = std::function<Result<Reply>(const DeadReplay&)>;

/// Runs the command, or answers for its key if that was used before. Stores and returns the result.
/// @param guards  nullptr for a command that is tried.
[[nodiscard]] CommandRow apply_command(const Request& request, const CommandContext& context,
                                       const Replay& replay, const Guards* guards,
                                       ProgramCache& programs, LedgerTxn& txn);
/// The accounts that a command of a file changes, by number.
using NamedAccounts = std::map<AccountNumber, AccountId>;
/// Returns their ids for a message, `acme, beta`: the first ten, and how many more there are.
[[nodiscard]] std::string names_of(const NamedAccounts& accounts);
/// Makes the result of a command that cannot even be tried; the caller stores it.
[[nodiscard]] CommandRow refused_row(const CommandContext& context, std::string why);

// Money by hand (J1, H3): posted now, or by the approval of another actor (reply kPending).
Verb<Adjust> adjust;
Verb<Credit> credit;
Verb<OpeningImport> import_openings;
Verb<WriteOff> write_off;
Verb<Reverse> reverse_posting;

// Attribution by hand (A3).
Verb<Attribute> attribute_order;
/// Detaches one order now, or queues every order attributed by `cause` as background work.
Verb<Detach> detach_orders;
/// Detaches one order of `detach --cause`, unless another command attributed it meanwhile.
void detach_attributed(const OrderKey& order, const std::string& cause, bool retry,
                       const Source& source, ProgramCache& programs, LedgerTxn& txn);

// Holds, rejection, anomalies, version reset (H1, H2, O5).
Verb<Hold> set_hold;
Verb<Release> release_hold;
Verb<Reject> reject_order;
Verb<AnomalyAck> ack_anomaly;
Verb<OrderReset> reset_order;

// Programs, creators, clicks (A1, A2, H3).
/// A change of a policy that has approvals waits for another actor (reply kPending).
Verb<ProgramApply> apply_programs;
Verb<CreatorImport> import_creators;
Verb<CreatorRemove> remove_creator;
Verb<ClickImport> import_clicks;
Verb<CreatorSet> set_creator;
Verb<CreatorRename> rename_creator;

// Links (LK1).
Verb<LinkSet> set_links;

// Periods, forgetting.
/// Closes the months of an account before `until` (S2). There is no reopening.
Verb<PeriodClose> close_period;
/// Leaves a task (F1, F2): the ids that the ledger's rows hold are replaced before the next input
/// is applied, the archive of each node by its worker. Throws ForgetNotSearched.
Verb<Forget> forget_person;

// The queue.
/// Returns the letters with these numbers, or kNotFound if one is not there.
[[nodiscard]] Result<std::vector<DeadLetter>> named_letters(std::span<const SequenceNumber> seqs,
                                                            LedgerReader& ledger);
Verb<AcceptGap> accept_gap;
/// Where a policy has approvals, another actor approves it: a discarded order earns nothing.
Verb<DeadDiscard> discard_dead;

}  // namespace sluice
