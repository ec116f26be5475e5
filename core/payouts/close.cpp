#include <map>
#include <span>
#include <vector>

#include "core/approvals/limits.hpp"
#include "core/approvals/subject.hpp"
#include "core/commands/ids.hpp"
#include "core/journal/journal.hpp"
#include "core/ledger/list_rows.hpp"
#include "core/payouts/allocation.hpp"
#include "core/payouts/payouts.hpp"
#include "core/payouts/plan.hpp"
#include "core/values/texts.hpp"

namespace sluice {
namespace {

/// A payout that was made. Its memo entry is written after the postings of all payouts.
struct Made {
    std::string payout_id;
    CreatorId creator;
    std::string memo;
};

class Closing {
public:
    Closing(const PayoutClose& command, const CommandContext& context,
            const AccountSettings& settings, LedgerTxn& txn)
        : command_(command),
          context_(context),
          settings_(settings),
          txn_(txn),
          allocation_(context.source, settings, txn) {}

    std::size_t run(PayoutPlan& plan) {
        plan.visit([this](const PlannedPayout& planned) { finish(planned); },
                   [this](const PlannedPayout& planned, std::span<const PayoutItem> items,
                          OrderState* order) { take(planned, items, order); });
        for (const Made& made : made_) {
            allocation_.post_memo(made.creator, made.payout_id, JournalReason::kMemoClosed,
                                  made.memo);
        }
        txn_.put(PayoutRun{context_.source.command_id, txn_.head().node, context_.account,
                           command_.until, context_.source.received_at, context_.actor(),
                           made_.size(), plan.digest()});
        txn_.put(RunUntil{context_.account, command_.until, context_.source.command_id,
                          joined(command_.programs, " ", std::mem_fn(&ProgramId::str))});
        txn_.put(RunByAccount{context_.account, context_.source.command_id});
        for (const Skipped& row : plan.skipped()) {
            txn_.put(row);
        }
        return made_.size();
    }

private:
    void take(const PlannedPayout& planned, std::span<const PayoutItem> items, OrderState* order) {
        if (payout_.payout_id.empty()) {
            begin(planned);
        }
        for (PayoutItem item : items) {
            item.payout_id = payout_.payout_id;
            txn_.put(item);
            add_to(sums_, item.program, {planned.currency, item.amount});
        }
        allocation_.allocate(payout_, items, order);
    }

    void finish(const PlannedPayout& planned) {
        payout_.orders_count = planned.orders_count;
        payout_.items_count = planned.items_count;
        payout_.items_digest = planned.digest;
        txn_.put(payout_);
        txn_.put(PayoutByAccount{payout_.account, payout_.state, payout_.payout_id});
        txn_.put(PayoutByCreator{payout_.account, payout_.creator, payout_.payout_id});
        std::vector<PayoutPart> parts;
        for (const auto& [program, amount] : sums_) {
            parts.push_back({payout_.payout_id, program, amount});
            txn_.put(parts.back());
        }
        allocation_.post_parts(payout_, parts, JournalReason::kPayout);
        if (!planned.needs_approval) {
            count_payout(payout_, accounting_date(payout_.closed_at, settings_.row.closed_until),
                         txn_);
        }
        made_.push_back(
            {payout_.payout_id, planned.creator,
             to_hex(payout_digest(payout_)) + (planned.needs_approval ? " CLOSED" : " APPROVED")});
        payout_ = {};
        sums_.clear();
    }

    void begin(const PlannedPayout& planned) {
        payout_.payout_id = payout_id(context_.source.command_id, planned.number);
        payout_.account = context_.account;
        payout_.creator = planned.creator;
        payout_.currency = planned.currency;
        payout_.amount = planned.amount;
        payout_.state = planned.needs_approval ? PayoutState::kClosed : PayoutState::kApproved;
        payout_.until = command_.until;
        payout_.closed_at = context_.source.received_at;
        payout_.closed_by = context_.actor();
        payout_.payee = planned.payee;
    }

    const PayoutClose& command_;
    const CommandContext& context_;
    const AccountSettings& settings_;
    LedgerTxn& txn_;
    PayoutAllocation allocation_;
    Payout payout_;  ///< The payout that is being made; its id is empty if there is none.
    std::map<ProgramId, Decimal> sums_;
    std::vector<Made> made_;
};

}  // namespace

Result<Reply> close_payouts(const PayoutClose& command, const CommandContext& context,
                            ProgramCache& programs, LedgerTxn& txn) {
    const AccountSettings& settings = programs.settings(txn, context.account);
    const PlanRequest request{context.account, context.account_id, command,
                              context.source.received_at, context.source.command_id};
    PayoutPlan plan(request, settings, txn);
    if (Status possible = plan.add_up(); !possible) {
        return possible.error();
    }
    if (!command.expect.empty()) {
        plan.visit([](const PlannedPayout&) {});
        if (to_hex(plan.digest()) != command.expect) {
            return refused("the payouts changed since the preview: their digest is " +
                           to_hex(plan.digest()) + ", not --expect " + command.expect +
                           "; preview again");
        }
    }
    const std::size_t count = Closing(command, context, settings, txn).run(plan);
    return done(counted(count, "payout", "payouts") + " closed, run " + context.source.command_id);
}

}  // namespace sluice
