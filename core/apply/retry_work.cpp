#include "core/apply/retry_work.hpp"

#include <algorithm>
#include <optional>

namespace sluice {
namespace {

constexpr std::size_t kOrdersAtOnce = 64;

Work new_work(const CommandContext& context, LedgerTxn& txn) {
    Work work;
    work.number = txn.mutable_head().next_work++;
    work.cause = context.seq;
    work.cause_topic = context.topic;
    work.received_at = context.received_at;
    return work;
}

/// The key after `key` in the order of keys of its account; nothing after the last.
std::optional<WaitKey> successor(WaitKey key) {
    for (std::size_t i = key.digest.size(); i-- > 0;) {
        if (++key.digest[i] != 0) {
            return key;
        }
    }
    if (key.kind == WaitKind::kCode) {
        return std::nullopt;
    }
    return WaitKey{key.account, WaitKind::kCode, {}};
}

/// The last order of the key that was tried, if any was.
std::optional<WaitingOrder> done_orders(const Work& work) {
    return work.after_shop && work.after_order
               ? std::optional(WaitingOrder{work.key, *work.after_shop, *work.after_order})
               : std::nullopt;
}

/// One slice of one piece of work.
class WorkSlice {
public:
    WorkSlice(OrderApplier& orders, LedgerTxn& txn, std::size_t steps)
        : orders_(orders), txn_(txn), steps_(steps) {}

    [[nodiscard]] std::size_t steps_left() const noexcept { return steps_; }

    /// False: more of it is left, and `work` says where to go on.
    bool finish(Work& work) {
        if (!work.whole_account) {
            return finish_key(work);
        }
        while (steps_ > 0) {
            const bool resumed = work.after_order.has_value();
            if (!resumed && !seek(work)) {
                if (work.key.kind == WaitKind::kCode) {
                    return true;
                }
                work.key = {work.key.account, WaitKind::kCode, {}};
                continue;
            }
            if (!finish_key(work)) {
                return false;
            }
            work.after_shop.reset();
            work.after_order.reset();
            const std::optional<WaitKey> next = successor(work.key);
            if (!next) {
                return true;
            }
            work.key = *next;
        }
        return false;
    }

private:
    /// Moves to the next key of this kind that orders wait for and that has a touch or an owner.
    bool seek(Work& work) {
        while (steps_ > 0) {
            --steps_;
            const std::optional<WaitKey> waiting = txn_.next_waiting(work.key);
            const std::optional<WaitKey> source =
                waiting ? txn_.next_source(*waiting) : std::nullopt;
            if (!source) {
                return false;
            }
            work.key = *source;
            if (*source == *waiting) {
                return true;
            }
        }
        return true;
    }

    bool finish_key(Work& work) {
        while (steps_ > 0) {
            const std::size_t wanted = std::min(steps_, kOrdersAtOnce);
            const std::vector<WaitingOrder> orders =
                txn_.waiting_orders(work.key, done_orders(work), wanted);
            for (const WaitingOrder& order : orders) {
                orders_.retry_order({work.key.account, order.shop, order.order_id}, work, txn_);
                work.after_shop = order.shop;
                work.after_order = order.order_id;
            }
            steps_ -= orders.size();
            if (orders.size() < wanted) {
                return true;
            }
        }
        return false;
    }

    OrderApplier& orders_;
    LedgerTxn& txn_;
    std::size_t steps_;
};

}  // namespace

void leave_work(const std::set<WaitKey>& keys, const CommandContext& context, LedgerTxn& txn) {
    for (const WaitKey& key : keys) {
        if (txn.next_waiting(key) == key) {
            Work work = new_work(context, txn);
            work.key = key;
            txn.put(work);
        }
    }
}

void leave_account_work(AccountNumber account, const CommandContext& context, LedgerTxn& txn) {
    Work work = new_work(context, txn);
    work.whole_account = true;
    work.key = {account, WaitKind::kAnon, {}};
    txn.put(work);
}

bool do_work(OrderApplier& orders, LedgerTxn& txn, std::size_t steps_max) {
    constexpr std::size_t kStepsMin = 2;  // one finds a key, the other does an order of it
    std::size_t steps = std::max(steps_max, kStepsMin);
    for (;;) {
        std::optional<Work> work = txn.first_work();
        if (!work) {
            return false;
        }
        if (steps == 0) {
            return true;
        }
        WorkSlice slice(orders, txn, steps);
        if (slice.finish(*work)) {
            txn.erase(*work);
        } else {
            txn.put(*work);
        }
        steps = slice.steps_left();
    }
}

}  // namespace sluice
