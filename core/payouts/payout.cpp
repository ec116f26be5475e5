#include "core/payouts/payout.hpp"

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "core/payouts/payout_plan.hpp"
#include "core/payouts/standing.hpp"
#include "core/rules/payout_names.hpp"

namespace sluice {
namespace {

/// A payout that was made; its mark is written when all transfers are.
struct Made {
    std::string payout_id;
    CreatorId creator;
    Currency currency;
    Digest256 digest;
    bool waits = false;  ///< For an approval.
    std::vector<PayoutPart> parts;
};

class Closing {
public:
    Closing(const PayoutClose& command, const CommandContext& context,
            const AccountSettings& settings, ProgramCache& programs, LedgerTxn& txn)
        : command_(command),
          context_(context),
          settings_(settings),
          programs_(programs),
          txn_(txn) {}

    std::size_t run(PayoutPlan& plan) {
        plan.visit([this](const PlannedPayout& planned) { make(planned); });
        for (const Made& made : made_) {
            if (command_.settles) {
                post_parts(made, JournalReason::kSettle);
            }
        }
        for (const Made& made : made_) {
            post_mark(made);
        }
        txn_.put(PayoutRun{context_.source.command_id, context_.account, command_.until,
                           context_.source.received_at, context_.actor(), made_.size(),
                           plan.digest()});
        for (const Skipped& row : plan.skipped()) {
            if (!command_.settles) {
                txn_.put(row);
            }
        }
        return made_.size();
    }

private:
    [[nodiscard]] PayoutState state_of(const PlannedPayout& planned) const {
        if (command_.settles) {
            return PayoutState::kPaid;
        }
        return needs_approval(settings_.policy.approve_payout_above,
                              {planned.currency, planned.amount})
                   ? PayoutState::kClosed
                   : PayoutState::kApproved;
    }

    void make(const PlannedPayout& planned) {
        Made made{payout_id(context_.source.command_id, made_.size() + 1),
                  planned.creator,
                  planned.currency,
                  planned.digest,
                  false,
                  {}};
        Payout payout;
        payout.payout_id = made.payout_id;
        payout.account = context_.account;
        payout.creator = planned.creator;
        payout.currency = planned.currency;
        payout.amount = planned.amount;
        payout.state = state_of(planned);
        made.waits = payout.state == PayoutState::kClosed;
        payout.until = command_.until;
        payout.closed_at = context_.source.received_at;
        payout.closed_by = context_.actor();
        if (command_.settles) {
            payout.ended_by = context_.actor();
            payout.ended_at = context_.source.received_at;
        }
        payout.orders_count = planned.orders_count;
        payout.items_count = planned.items.size();
        payout.items_digest = planned.digest;
        txn_.put(payout);
        put_items(planned, made);
        stand(payout, planned.items, context_.source, programs_, txn_);
        post_parts(made, JournalReason::kPayout);
        made_.push_back(std::move(made));
    }

    void put_items(const PlannedPayout& planned, Made& made) {
        std::map<ProgramId, Decimal> sums;
        for (PayoutItem item : planned.items) {
            item.payout_id = made.payout_id;
            txn_.put(item);
            Decimal& sum =
                sums.try_emplace(item.program, zero_amount(planned.currency)).first->second;
            sum = sum + item.amount;
        }
        for (const auto& [program, amount] : sums) {
            made.parts.push_back({made.payout_id, program, amount});
            txn_.put(made.parts.back());
        }
    }

    [[nodiscard]] JournalGroup group_of_payout(const Made& made) const {
        JournalGroup group =
            group_of(context_.source, context_.account, settings_.row.closed_until);
        group.creator = made.creator;
        group.payout_id = made.payout_id;
        return group;
    }

    void post_parts(const Made& made, JournalReason reason) {
        for (const PayoutPart& part : made.parts) {
            if (!part.amount.is_zero()) {
                JournalGroup group = group_of_payout(made);
                group.program = part.program;
                group.entries.push_back({LineItemId(), made.currency, part.amount, reason, 0});
                post_group(txn_, std::move(group));
            }
        }
    }

    void post_mark(const Made& made) {
        JournalGroup group = group_of_payout(made);
        group.entries.push_back(
            mark_of(JournalReason::kMarkClosed,
                    to_hex(made.digest) + (made.waits ? " CLOSED" : " APPROVED")));
        post_group(txn_, std::move(group));
    }

    const PayoutClose& command_;
    const CommandContext& context_;
    const AccountSettings& settings_;
    ProgramCache& programs_;
    LedgerTxn& txn_;
    std::vector<Made> made_;
};

/// The account of an old close, which names a program alone.
Result<CommandContext> with_account(const PayoutClose& command, const CommandContext& context,
                                    LedgerTxn& txn) {
    CommandContext named = context;
    if (!command.settles) {
        return named;
    }
    const std::optional<ProgramRow> program = txn.program(command.programs.front());
    if (!program) {
        return Error{ErrorCode::kNotFound, "there is no program " + command.programs.front().str()};
    }
    named.account = program->program.account;
    named.account_id = program->program.account_id;
    return named;
}

}  // namespace

Result<Reply> close_payouts(const PayoutClose& command, const CommandContext& context,
                            ProgramCache& programs, LedgerTxn& txn) {
    const Result<CommandContext> named = with_account(command, context, txn);
    if (!named) {
        return named.error();
    }
    const AccountSettings& settings = programs.settings(txn, named->account);
    const PlanRequest request{named->account, named->account_id, command, named->source.received_at,
                              named->source.command_id};
    PayoutPlan plan(request, settings, txn);
    if (Status possible = plan.add_up(); !possible) {
        return possible.error();
    }
    if (!command.expect.empty()) {
        plan.visit([](const PlannedPayout&) {});
        if (to_hex(plan.digest()) != command.expect) {
            return refused("the payouts would not be those of --expect " + command.expect +
                           ": they are " + to_hex(plan.digest()) + "; preview again");
        }
    }
    const std::size_t count = Closing(command, *named, settings, programs, txn).run(plan);
    return Reply{CommandOutcome::kDone,
                 counted(count, "payout", "payouts") + " closed" +
                     (command.settles ? "" : ", run " + named->source.command_id)};
}

}  // namespace sluice
