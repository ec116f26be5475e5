#include <map>
#include <utility>
#include <vector>

#include "core/approvals/limits.hpp"
#include "core/approvals/subject.hpp"
#include "core/commands/ids.hpp"
#include "core/journal/journal.hpp"
#include "core/ledger/list_rows.hpp"
#include "core/payouts/allocation.hpp"
#include "core/payouts/payouts.hpp"
#include "core/payouts/plan.hpp"

namespace sluice {
namespace {

/// A payout that was made. Its memo entry is written after the postings of all payouts.
struct Made {
    std::string payout_id;
    CreatorId creator;
    Currency currency;
    Digest256 digest;
    bool needs_approval = false;
    std::vector<PayoutPart> parts;
};

std::string joined(const std::vector<ProgramId>& programs) {
    std::string text;
    for (const ProgramId& program : programs) {
        text += (text.empty() ? "" : " ") + program.str();
    }
    return text;
}

class Closing final : public PayoutTaker {
public:
    Closing(const PayoutClose& command, const CommandContext& context,
            const AccountSettings& settings, LedgerTxn& txn)
        : command_(command),
          context_(context),
          settings_(settings),
          txn_(txn),
          allocation_(context.source, settings, txn) {}

    std::size_t run(PayoutPlan& plan) {
        plan.visit(*this);
        for (const Made& made : made_) {
            post_memo(made);
        }
        txn_.put(PayoutRun{context_.source.command_id, txn_.head().node, context_.account,
                           command_.until, context_.source.received_at, context_.actor(),
                           made_.size(), plan.digest()});
        txn_.put(RunUntil{context_.account, command_.until, context_.source.command_id,
                          joined(command_.programs)});
        txn_.put(RunByAccount{context_.account, context_.source.command_id});
        for (const Skipped& row : plan.skipped()) {
            txn_.put(row);
        }
        return made_.size();
    }

    void take(const PlannedPayout& planned, std::span<const PayoutItem> items,
              OrderState* order) override {
        if (payout_.payout_id.empty()) {
            begin(planned);
        }
        for (PayoutItem item : items) {
            item.payout_id = payout_.payout_id;
            txn_.put(item);
            sums_.try_emplace(item.program, zero_amount(planned.currency)).first->second +=
                item.amount;
        }
        allocation_.allocate(payout_, items, order);
    }

    void finish(const PlannedPayout& planned) override {
        payout_.orders_count = planned.orders_count;
        payout_.items_count = planned.items_count;
        payout_.items_digest = planned.digest;
        txn_.put(payout_);
        txn_.put(PayoutByAccount{payout_.account, payout_.state, payout_.payout_id});
        txn_.put(PayoutByCreator{payout_.account, payout_.creator, payout_.payout_id});
        Made made{payout_.payout_id,
                  planned.creator,
                  planned.currency,
                  payout_digest(payout_),
                  payout_.state == PayoutState::kClosed,
                  {}};
        for (const auto& [program, amount] : sums_) {
            made.parts.push_back({made.payout_id, program, amount});
            txn_.put(made.parts.back());
        }
        post_parts(made);
        if (!made.needs_approval) {
            count_payout(payout_, accounting_date(payout_.closed_at, settings_.row.closed_until),
                         txn_);
        }
        made_.push_back(std::move(made));
        payout_ = {};
        sums_.clear();
    }

private:
    [[nodiscard]] static PayoutState state_of(const PlannedPayout& planned) {
        return planned.needs_approval ? PayoutState::kClosed : PayoutState::kApproved;
    }

    void begin(const PlannedPayout& planned) {
        payout_.payout_id = payout_id(context_.source.command_id, planned.number);
        payout_.account = context_.account;
        payout_.creator = planned.creator;
        payout_.currency = planned.currency;
        payout_.amount = planned.amount;
        payout_.state = state_of(planned);
        payout_.until = command_.until;
        payout_.closed_at = context_.source.received_at;
        payout_.closed_by = context_.actor();
        payout_.payee = planned.payee;
    }

    [[nodiscard]] JournalGroup group_of_payout(const Made& made) const {
        JournalGroup group =
            group_of(context_.source, context_.account, settings_.row.closed_until);
        group.creator = made.creator;
        group.payout_id = made.payout_id;
        return group;
    }

    void post_parts(const Made& made) {
        for (const PayoutPart& part : made.parts) {
            if (!part.amount.is_zero()) {
                JournalGroup group = group_of_payout(made);
                group.program = part.program;
                group.entries.push_back(
                    {LineItemId(), made.currency, part.amount, JournalReason::kPayout, 0});
                post_group(txn_, std::move(group));
            }
        }
    }

    void post_memo(const Made& made) {
        JournalGroup group = group_of_payout(made);
        group.entries.push_back(
            memo_of(JournalReason::kMemoClosed,
                    to_hex(made.digest) + (made.needs_approval ? " CLOSED" : " APPROVED")));
        post_group(txn_, std::move(group));
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

Result<Reply> run_verb(const PayoutClose& command, const CommandContext& context,
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
