#include <algorithm>
#include <utility>
#include <vector>

#include "core/apply/command.hpp"
#include "core/journal/period_sums.hpp"
#include "core/ledger/account_rows.hpp"

namespace sluice {
namespace {

bool is_first_of_month(Timestamp at) {
    return at.to_string().ends_with("-01T00:00:00Z");
}

/// Returns a node whose last applied receipt lies before `until`; empty if there is none.
std::string late_node(const CommandContext& context, Timestamp until, LedgerTxn& txn) {
    std::string late;
    const std::string own = txn.head().node;
    txn.scan_heads([&](const LedgerHead& head) {
        const Timestamp received = head.node == own
                                       ? std::max(head.last_received, context.source.received_at)
                                       : head.last_received;
        late = late.empty() && received < until ? head.node : late;
        return true;
    });
    return late;
}

Status check(const PeriodClose& command, const CommandContext& context,
             const std::optional<Timestamp>& closed_until, LedgerTxn& txn) {
    const std::string until = command.until.to_string();
    if (!is_first_of_month(command.until)) {
        return Error{ErrorCode::kInvalid,
                     "--until " + until + " is not the first instant of a month (UTC)"};
    }
    if (command.until > context.source.received_at) {
        return Error{ErrorCode::kInvalid, "--until " + until + " lies in the future"};
    }
    if (closed_until && command.until <= *closed_until) {
        return refused("--until " + until + " is not after " + closed_until->to_string() +
                       ", until which account " + context.account_id.str() + " is closed");
    }
    const std::string late =
        command.allow_late ? std::string() : late_node(context, command.until, txn);
    if (!late.empty()) {
        return refused("node " + late + " has applied nothing received since " + until +
                       ": its events would be dated late; wait for the node, or use --allow-late");
    }
    return {};
}

}  // namespace

Result<Reply> close_period(const PeriodClose& command, const CommandContext& context,
                           ProgramCache& programs, LedgerTxn& txn) {
    const std::optional<Timestamp> closed_until =
        programs.settings(txn, context.account).row.closed_until;
    if (Status fits = check(command, context, closed_until, txn); !fits) {
        return fits.error();
    }
    std::vector<PeriodSum> rows;
    period_sums(txn, context.account, closed_until, command.until, [&rows](const PeriodSum& row) {
        rows.push_back(row);
        return true;
    });
    for (const PeriodSum& row : rows) {
        txn.put(row);
    }
    JournalGroup group = group_of(context.source, context.account, closed_until);
    group.entries.push_back(memo_of(JournalReason::kMemoPeriodClosed, command.until.to_string()));
    post_group(txn, std::move(group));
    txn.put(Period{context.account, command.until, context.source.received_at, context.actor(),
                   context.source.command_id});
    change_account(txn, context.account, context.account_id,
                   [&command](AccountRow& row) { row.closed_until = command.until; });
    return Reply{CommandOutcome::kDone, "account " + context.account_id.str() +
                                            " is closed until " + command.until.to_string()};
}

}  // namespace sluice
