#include <vector>

#include "core/apply/command.hpp"
#include "core/journal/period_sums.hpp"
#include "core/ledger/account_rows.hpp"
#include "core/orders/account_change.hpp"

namespace sluice {
namespace {

Status check(const PeriodClose& command, const CommandContext& context,
             const std::optional<Timestamp>& closed_until, LedgerTxn& txn) {
    const Timestamp received_at = context.source.received_at;
    if (Status fits =
            check_period_end(command.until, received_at, context.account_id, closed_until);
        !fits) {
        return fits;
    }
    const std::vector<LedgerHead> late = late_nodes(txn, command.until, received_at);
    if (!command.allow_late && !late.empty()) {
        return refused("node " + late.front().node + " has applied nothing received since " +
                       command.until.to_string() +
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
    period_sums(txn, context.account, closed_until, command.until,
                [&rows](const PeriodSum& row) { rows.push_back(row); });
    for (const PeriodSum& row : rows) {
        txn.put(row);
    }
    post_memo(txn, context, context.account, JournalReason::kMemoPeriodClosed,
              command.until.to_string());
    txn.put(Period{context.account, command.until, context.source.received_at, context.actor(),
                   context.source.command_id});
    change_account(txn, context.account, context.account_id,
                   [&command](AccountRow& row) { row.closed_until = command.until; });
    return done("account " + context.account_id.str() + " is closed until " +
                command.until.to_string());
}

}  // namespace sluice
