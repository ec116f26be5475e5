#include "core/apply/work.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "core/apply/command.hpp"
#include "core/forget/edit.hpp"
#include "core/ledger/account_rows.hpp"
#include "core/orders/left_work.hpp"
#include "core/orders/month_rating.hpp"
#include "core/values/lookup.hpp"

namespace sluice {
namespace {

constexpr std::size_t kOrdersAtOnce = 64;

/// Returns the key after `key` in the order of keys of its account, or nullopt after the last.
std::optional<WaitKey> successor(WaitKey key) {
    for (std::size_t i = key.digest.size(); i-- > 0;) {
        if (++key.digest[i] != 0) {
            return key;
        }
    }
    if (key.kind == WaitKind::kCode) {
        return std::nullopt;
    }
    return WaitKey{key.account, WaitKind::kCode};
}

void note_done(Work& work, Timestamp ordered_at, ShopNumber shop, const OrderId& order) {
    work.after_ordered = ordered_at;
    work.after_shop = shop;
    work.after_order = order;
}

void restart(Work& work) {
    work.after_ordered.reset();
    work.after_shop.reset();
    work.after_order.reset();
}

OrderKey key_of(const WaitingOrder& row) {
    return {row.key.account, row.shop, row.order_id};
}
template <class Row>
OrderKey key_of(const Row& row) {
    return {row.account, row.shop, row.order_id};
}

/// One slice of one piece of work.
class WorkSlice {
public:
    WorkSlice(OrderApplier& orders, LedgerTxn& txn, std::size_t steps)
        : orders_(orders), txn_(txn), steps_(steps) {}

    [[nodiscard]] std::size_t steps_left() const noexcept { return steps_; }

    /// Returns false if more is left; `work` then says where to resume.
    bool finish(Work& work) {
        switch (work.kind) {
            case WorkKind::kTryKey:
                return try_key(work);
            case WorkKind::kCollect:
                return collect(work);
            case WorkKind::kTryOrders:
                return for_work_orders(work, [&](const OrderKey& order) {
                    orders_.retry_order(order, source_of(work), txn_);
                });
            case WorkKind::kForget:
                return forget_orders(work);
            case WorkKind::kDetach:
            case WorkKind::kRetry:
                return detach_orders(work);
            case WorkKind::kTiers:
                return rate_month(work);
        }
        return true;
    }

private:
    // ---- An import: a key and what waits for it -------------------------------------------------

    /// Announces the orders, which are loaded next.
    template <class Rows>
    void expect(const Rows& rows) {
        txn_.expect_orders(mapped(rows, [](const auto& row) { return key_of(row); }));
    }

    /// Reads orders and acts on them, until there are no more, or no steps are left.
    /// @param read  Returns so many orders after those that were done, or fewer if these are all.
    template <class Read, class Do>
    bool for_each_order(Read read, Do act) {
        while (steps_ > 0) {
            const std::size_t wanted = std::min(steps_, kOrdersAtOnce);
            const auto orders = read(wanted);
            for (const auto& order : orders) {
                act(order);
            }
            steps_ -= orders.size();
            if (orders.size() < wanted) {
                return true;
            }
        }
        return false;
    }

    template <class Do>
    bool for_waiting(Work& work, bool reads_orders, Do act) {
        const auto read = [&](std::size_t wanted) {
            std::optional<WaitingOrder> after;
            if (work.after_ordered) {
                after = WaitingOrder{work.key, *work.after_ordered, *work.after_shop,
                                     *work.after_order};
            }
            std::vector<WaitingOrder> orders = txn_.waiting_orders(work.key, after, wanted);
            if (reads_orders) {
                expect(orders);
            }
            return orders;
        };
        return for_each_order(read, [&](const WaitingOrder& order) {
            act(order);
            note_done(work, order.ordered_at, order.shop, order.order_id);
        });
    }

    bool try_key(Work& work) {
        return for_waiting(work, true, [&](const WaitingOrder& order) {
            orders_.retry_order(key_of(order), source_of(work), txn_);
        });
    }

    // ---- A program file: keys with a source, then their orders by time --------------------------

    bool collect(Work& work) {
        while (steps_ > 0) {
            const bool resumed = work.after_ordered.has_value();
            if (!resumed && !seek(work)) {
                if (work.key.kind == WaitKind::kCode) {
                    return end_collecting(work);
                }
                work.key = {work.key.account, WaitKind::kCode, {}};
                continue;
            }
            if (!for_waiting(work, false, [&](const WaitingOrder& order) {
                    txn_.put(WorkOrder{work.number, order.ordered_at, order.key.account, order.shop,
                                       order.order_id});
                })) {
                return false;
            }
            restart(work);
            const std::optional<WaitKey> next = successor(work.key);
            if (!next) {
                return end_collecting(work);
            }
            work.key = *next;
        }
        return false;
    }

    bool end_collecting(Work& work) {
        work.kind = WorkKind::kTryOrders;
        return finish(work);
    }

    /// Moves to the next key of this kind that orders wait for and that has a click or an owner.
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

    template <class Do>
    bool for_work_orders(const Work& work, Do act) {
        const auto read = [&](std::size_t wanted) {
            std::vector<WorkOrder> orders;
            txn_.scan(WorkOrder{work.number, {}, {}, {}, {}}, {1, 1}, [&](const WorkOrder& row) {
                orders.push_back(row);
                return orders.size() < wanted;
            });
            expect(orders);
            return orders;
        };
        return for_each_order(read, [&](const WorkOrder& row) {
            act(key_of(row));
            txn_.erase(row);
        });
    }

    /// A rebuild has no task, and then no orders.
    bool forget_orders(const Work& work) {
        const std::optional<ForgetJob> job = load_task(txn_, work.subject);
        const std::optional<ForgetNames> names =
            job ? std::optional<ForgetNames>(std::in_place, *job) : std::nullopt;
        return for_work_orders(work, [&](const OrderKey& order) {
            if (names) {
                forget_ids(order, *names, *job, txn_);
            }
        });
    }

    // ---- Undo of a command's attributions -------------------------------------------------------

    bool detach_orders(Work& work) {
        const auto read = [&](std::size_t wanted) {
            std::vector<AttributedOrder> orders;
            const AttributedOrder first{work.subject, work.key.account,
                                        work.after_shop.value_or(ShopNumber{}),
                                        work.after_order.value_or(OrderId())};
            txn_.scan(first, {2, 4}, [&](const AttributedOrder& row) {
                if (!work.after_shop || row.shop != *work.after_shop ||
                    row.order_id != *work.after_order) {
                    orders.push_back(row);
                }
                return orders.size() < wanted;
            });
            expect(orders);
            return orders;
        };
        return for_each_order(read, [&](const AttributedOrder& row) {
            detach_attributed(key_of(row), work.subject, work.kind == WorkKind::kRetry,
                              source_of(work), orders_.programs(), txn_);
            note_done(work, {}, row.shop, row.order_id);
        });
    }

    // ---- Tiers that apply to the month ----------------------------------------------------------

    bool rate_month(Work& work) {
        constexpr unsigned kMonth = 4, kOrder = 7;  // columns of the key
        const auto read = [&](std::size_t wanted) {
            std::vector<TierOrder> orders;
            const TierOrder first{work.key.account,
                                  work.program,
                                  work.creator,
                                  work.month,
                                  work.after_ordered.value_or(Timestamp{}),
                                  work.after_shop.value_or(ShopNumber{}),
                                  work.after_order.value_or(OrderId())};
            txn_.scan(first, {kMonth, work.after_ordered ? kOrder : kMonth},
                      [&](const TierOrder& row) {
                          if (!work.after_ordered || !(row == first)) {
                              orders.push_back(row);
                          }
                          return orders.size() < wanted;
                      });
            expect(orders);
            return orders;
        };
        MonthRating month(work, orders_.programs(), txn_);
        return for_each_order(read, [&](const TierOrder& row) {
            month.rate(key_of(row));
            note_done(work, row.ordered_at, row.shop, row.order_id);
        });
    }

    OrderApplier& orders_;
    LedgerTxn& txn_;
    std::size_t steps_;
};

}  // namespace

void leave_work(const std::vector<WaitKey>& keys, const CommandContext& context, LedgerTxn& txn) {
    std::set<WaitKey> seen;
    for (const WaitKey& key : keys) {
        if (seen.insert(key).second && !txn.waiting_orders(key, std::nullopt, 1).empty()) {
            txn.put(new_work(WorkKind::kTryKey, key, context.source, txn));
        }
    }
}

void leave_account_work(AccountNumber account, const CommandContext& context, LedgerTxn& txn) {
    txn.put(new_work(WorkKind::kCollect, {account, WaitKind::kAnon, {}}, context.source, txn));
}

void leave_detach_work(const std::string& cause, bool retry, const CommandContext& context,
                       LedgerTxn& txn) {
    Work work = new_work(retry ? WorkKind::kRetry : WorkKind::kDetach,
                         {context.account, WaitKind::kAnon, {}}, context.source, txn);
    work.subject = cause;
    txn.put(work);
}

std::uint64_t leave_forget_work(const CommandContext& context, LedgerTxn& txn) {
    Work work =
        new_work(WorkKind::kForget, {context.account, WaitKind::kAnon, {}}, context.source, txn);
    work.subject = context.source.command_id;
    work.reason.clear();  // it may name the person
    txn.put(work);
    return work.number;
}

bool do_work(OrderApplier& orders, LedgerTxn& txn, std::size_t steps_max) {
    constexpr std::size_t kStepsMin = 2;  // the first finds a key, the second does an order of it
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

/// Pieces are numbered without gaps and done in order.
WorkLeft work_left(LedgerReader& ledger) {
    const std::optional<Work> first = ledger.first_work();
    return first ? WorkLeft{ledger.head().next_work - first->number, first->cause} : WorkLeft{};
}

std::string work_text(std::uint64_t pieces) {
    return "orders of " + std::to_string(pieces) +
           (pieces == 1 ? " code, device, program or month are"
                        : " codes, devices, programs or months are") +
           " still to be tried or rated again";
}

}  // namespace sluice
