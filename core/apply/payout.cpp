#include "core/apply/payout.hpp"

#include <map>
#include <utility>
#include <vector>

#include "core/apply/post.hpp"
#include "core/ledger/row_name.hpp"
#include "core/rules/commission.hpp"
#include "core/rules/posting.hpp"
#include "core/rules/soundness.hpp"

namespace sluice {
namespace {

constexpr Timestamp kFirstInstant{-62'167'219'200, 0};  // Year 0000.
constexpr Timestamp kEndOfTime{253'402'300'800, 0};     // Year 10000.
/// Rows that are collected before their orders are changed: a scan and its changes never overlap.
constexpr std::size_t kSliceRows = 4096;

using PayoutKey = std::pair<CreatorId, Currency>;

DamagedRow corrupt_index(const OrderKey& order) {
    return {row_name("open", order), "the order does not say that this is open", order};
}

/// One close of one program.
class Closing {
public:
    Closing(const Program& program, const PayoutClose& command, const CommandContext& context,
            LedgerTxn& txn)
        : program_(program), command_(command), context_(context), txn_(txn) {}

    std::string run() {
        add_up(true, kEndOfTime);
        add_up(false, program_.held_since(command_.until));
        name_payouts();
        if (!payouts_.empty()) {
            take(true, kEndOfTime);
            take(false, program_.held_since(command_.until));
        }
        return write();
    }

private:
    void add_up(bool adjustment, Timestamp to) {
        txn_.scan_open(program_.account, program_.id, adjustment, kFirstInstant, to,
                       [this](const OpenAmount& row) {
                           Decimal& sum = sums_[{row.creator, row.currency}];
                           sum = sum + row.amount;
                           return true;
                       });
    }

    void name_payouts() {
        for (const auto& [key, sum] : sums_) {
            if (sum <= Decimal()) {
                continue;
            }
            Payout payout;
            payout.payout_id =
                std::to_string(context_.seq.value) + "-" + std::to_string(payouts_.size() + 1);
            payout.account = program_.account;
            payout.program = program_.id;
            payout.creator = key.first;
            payout.currency = key.second;
            payout.amount = zero_amount(key.second);
            payout.until = command_.until;
            payout.closed_at = context_.received_at;
            payout.actor = context_.actor;
            payouts_.emplace(key, std::move(payout));
        }
    }

    /// Orders of the next rows whose payout closes. What was taken is no longer open, so every
    /// slice begins at the last one's instant and never sees it again.
    std::vector<OrderKey> next_slice(bool adjustment, Timestamp& from, Timestamp to) {
        std::vector<OrderKey> orders;
        txn_.scan_open(program_.account, program_.id, adjustment, from, to,
                       [&](const OpenAmount& row) {
                           if (payouts_.contains({row.creator, row.currency})) {
                               orders.push_back({row.account, row.shop, row.order_id});
                               from = row.ordered_at;
                           }
                           return orders.size() < kSliceRows;
                       });
        return orders;
    }

    void take(bool adjustment, Timestamp to) {
        Timestamp from = kFirstInstant;
        for (;;) {
            const std::vector<OrderKey> orders = next_slice(adjustment, from, to);
            if (orders.empty()) {
                return;
            }
            bool taken = false;
            for (const OrderKey& order : orders) {
                taken = take_order(order) || taken;
            }
            if (!taken) {
                throw corrupt_index(orders.front());
            }
        }
    }

    /// All open amounts of the order whose payouts close, in every currency, at once: after the
    /// first of them the rest would be adjustments.
    bool take_order(const OrderKey& order) {
        if (!load_sound_order(txn_, order, state_)) {
            throw corrupt_index(order);
        }
        const IndexedBefore before = indexed(state_);
        const bool was_paid = state_.paid.has_value();
        bool taken = false;
        for (const OpenAmount& open : before.open) {
            const auto payout = payouts_.find({open.creator, open.currency});
            if (payout == payouts_.end()) {
                continue;
            }
            taken = true;
            settle(open, payout->second);
            if (!was_paid && (!state_.paid || open.currency == state_.currency)) {
                state_.paid = OrderPaid{open.currency, open.amount, payout->second.payout_id};
            }
        }
        reindex(txn_, state_, before);
        txn_.put_order(state_);
        return taken;
    }

    void settle(const OpenAmount& open, Payout& payout) {
        payout.amount = payout.amount + open.amount;
        ++payout.orders_count;
        txn_.add_to_balance({open.account, payout.program, payout.creator, payout.currency},
                            zero_amount(open.currency), open.amount);
        for (OrderDue& due : state_.dues) {
            if (due.currency == open.currency) {
                due.settled = due.due;
            }
        }
    }

    std::string write() {
        for (const auto& [key, payout] : payouts_) {
            txn_.put_payout(payout);
        }
        return std::to_string(payouts_.size()) +
               (payouts_.size() == 1 ? " payout closed" : " payouts closed");
    }

    const Program& program_;
    const PayoutClose& command_;
    const CommandContext& context_;
    LedgerTxn& txn_;
    std::map<PayoutKey, Decimal> sums_;
    std::map<PayoutKey, Payout> payouts_;
    OrderState state_;
};

}  // namespace

Result<std::string> close_payout(const PayoutClose& command, const CommandContext& context,
                                 LedgerTxn& txn) {
    const std::optional<ProgramRow> row = txn.program(command.program);
    if (!row) {
        return Error{ErrorCode::kNotFound, "there is no program " + command.program.str()};
    }
    if (command.until > context.received_at) {
        return Error{ErrorCode::kInvalid,
                     "--until " + command.until.to_string() + " lies in the future"};
    }
    return Closing(row->program, command, context, txn).run();
}

}  // namespace sluice
