#include "core/payouts/close_payouts.hpp"

#include <map>
#include <utility>
#include <vector>

#include "core/payouts/payout_id.hpp"
#include "core/payouts/payout_plan.hpp"
#include "core/payouts/standing.hpp"

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

class Closing final : public PayoutTaker {
public:
    Closing(const PayoutClose& command, const CommandContext& context,
            const AccountSettings& settings, LedgerTxn& txn)
        : command_(command),
          context_(context),
          settings_(settings),
          txn_(txn),
          standing_(context.source, settings, txn) {}

    std::size_t run(PayoutPlan& plan) {
        plan.visit(*this);
        for (const Made& made : made_) {
            if (command_.settles) {
                post_parts(made, JournalReason::kSettle);
            }
        }
        for (const Made& made : made_) {
            post_mark(made);
        }
        txn_.put(PayoutRun{context_.source.command_id, txn_.head().node, context_.account,
                           command_.until, context_.source.received_at, context_.actor(),
                           made_.size(), plan.digest()});
        for (const Skipped& row : plan.skipped()) {
            if (!command_.settles) {
                txn_.put(row);
            }
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
            Decimal& sum =
                sums_.try_emplace(item.program, zero_amount(planned.currency)).first->second;
            sum = sum + item.amount;
        }
        standing_.take(payout_, items, order);
    }

    void finish(const PlannedPayout& planned) override {
        payout_.orders_count = planned.orders_count;
        payout_.items_count = planned.items_count;
        payout_.items_digest = planned.digest;
        txn_.put(payout_);
        Made made{payout_.payout_id,
                  planned.creator,
                  planned.currency,
                  planned.digest,
                  payout_.state == PayoutState::kClosed,
                  {}};
        for (const auto& [program, amount] : sums_) {
            made.parts.push_back({made.payout_id, program, amount});
            txn_.put(made.parts.back());
        }
        post_parts(made, JournalReason::kPayout);
        made_.push_back(std::move(made));
        payout_ = {};
        sums_.clear();
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
        if (command_.settles) {
            payout_.ended_by = context_.actor();
            payout_.ended_at = context_.source.received_at;
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
    LedgerTxn& txn_;
    Standing standing_;
    Payout payout_;  ///< The one whose items are taken; without an id: none.
    std::map<ProgramId, Decimal> sums_;
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
    const std::size_t count = Closing(command, *named, settings, txn).run(plan);
    return Reply{CommandOutcome::kDone,
                 counted(count, "payout", "payouts") + " closed" +
                     (command.settles ? "" : ", run " + named->source.command_id)};
}

}  // namespace sluice
