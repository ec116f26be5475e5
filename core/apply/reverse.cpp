#include <optional>
#include <vector>

#include "core/apply/command.hpp"
#include "core/apply/manual_postings.hpp"
#include "core/approvals/approval.hpp"
#include "core/approvals/subject.hpp"
#include "core/commands/ids.hpp"
#include "core/orders/write_offs.hpp"
#include "core/payouts/sound_credit.hpp"

namespace sluice {
namespace {

Status check_decided(const Reverse& command, const CommandContext& context, LedgerTxn& txn) {
    const std::optional<PendingApproval> waiting = find_pending(command.id, context, txn);
    if (waiting && waiting->state == ApprovalState::kPending) {
        return refused(command.id + " waits for an approval: use `sluice withdraw`");
    }
    return {};
}

/// Refuses to take back an amount below 0 that a payout deducted together with a write-off, because
/// the creator would be paid what was given up.
Status check_not_written_off(const MoneyCommand& row, SoundCredits& credits, LedgerTxn& txn) {
    if (!row.allocated.is_negative()) {
        return {};
    }
    for (const std::string& payout : credits.payouts_of(row)) {
        if (const std::optional<std::string> write_off = write_off_in(txn, payout, row.program)) {
            return refused(row.command_id + " was deducted in payout " + payout +
                           " and written off by " + *write_off + ": reverse " + *write_off +
                           " first");
        }
    }
    return {};
}

/// Returns what the id names: one posting, or all that an import posted and that stand. Throws
/// DamagedRow if one of them is not as it was posted.
Result<std::vector<MoneyCommand>> reversible(const Reverse& command, const CommandContext& context,
                                             LedgerTxn& txn) {
    std::vector<MoneyCommand> rows(1);
    if (!load_posting(txn, context.account, command.id, rows.front())) {
        rows = unreversed_postings(txn, context.account, command.id);
        MoneyCommand first;
        if (rows.empty() && load_posting(txn, context.account, posting_id(command.id, 1), first)) {
            return refused("each opening balance of " + command.id + " was reversed before");
        }
    } else if (!rows.front().reversed_by.empty()) {
        return refused(command.id + " was reversed by " + rows.front().reversed_by);
    }
    if (rows.empty()) {
        return not_found("account " + context.account_id.str() +
                         " has no adjust, credit, write-off or opening balance " + command.id);
    }
    SoundCredits credits(txn);
    for (MoneyCommand& row : rows) {
        if (!row.is_credit()) {
            continue;
        }
        static_cast<void>(credits.load(std::string(row.command_id), row));
        if (Status possible = check_not_written_off(row, credits, txn); !possible) {
            return possible.error();
        }
    }
    return rows;
}

/// Posts the opposite of the row.
Result<Money> reverse_posting(MoneyCommand& row, const CommandContext& context,
                              ProgramCache& programs, LedgerTxn& txn) {
    const Money money{row.currency, -row.amount};
    row.reversed_by = context.source.command_id;
    if (row.is_credit()) {
        reverse_credit(row, money.amount, context, programs, txn);
    } else if (Status done = reverse_adjust(row, money.amount, context, programs, txn); !done) {
        return done.error();
    }
    count_adjust(context, row, programs, txn);
    txn.put(row);
    MoneyCommand reversal = money_command(context, row.program, row.creator, money);
    reversal.topic = Topic::kReverse;
    reversal.shop = row.shop;
    reversal.shop_id = row.shop_id;
    reversal.order_id = row.order_id;
    reversal.reverses = row.command_id;
    txn.put(reversal);
    return money;
}

}  // namespace

Result<Reply> reverse_posting(const Reverse& command, const CommandContext& context,
                              ProgramCache& programs, LedgerTxn& txn) {
    if (Status reason = check_reason(context); !reason) {
        return reason.error();
    }
    if (Status decided = check_decided(command, context, txn); !decided) {
        return decided.error();
    }
    Result<std::vector<MoneyCommand>> found = reversible(command, context, txn);
    if (!found) {
        return found.error();
    }
    std::vector<MoneyCommand>& rows = *found;
    const bool is_import = rows.front().command_id != command.id;
    std::string amount;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Result<Money> money = reverse_posting(
            rows[i], is_import ? context_of_row(context, i + 1) : context, programs, txn);
        if (!money) {
            return money.error();
        }
        amount = to_string(*money);
    }
    end_openings(rows, context, txn);
    return done((is_import ? counted(rows.size(), "opening balance", "opening balances") + " of " +
                                 command.id + " reversed"
                           : command.id + " reversed by " + amount) +
                " as " + context.source.command_id);
}

}  // namespace sluice
