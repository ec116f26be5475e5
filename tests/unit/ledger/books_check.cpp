// The invariants of any ledger: sums, chain, indexes, views; and a ledger as text.
#include <algorithm>
#include <map>
#include <set>
#include <sstream>

#include "core/audit/audit.hpp"
#include "core/ledger/list_rows.hpp"
#include "core/ledger/overview_rows.hpp"
#include "core/positions/number_rows.hpp"
#include "core/protocol/order_numbers.hpp"
#include "core/rules/attribution.hpp"
#include "unit/ledger/books.hpp"
#include "unit/ledger/books_views.hpp"

namespace sluice::test {
namespace {

constexpr std::size_t kFindingsMax = 100;

std::string name_of(const OrderKey& key) {
    return std::to_string(key.shop.value) + "/" + key.order_id.str();
}

void visit_orders(LedgerReader& reader, const Visitor<OrderState>& visit) {
    std::vector<ShopRow> shops;
    reader.scan_shops([&](const ShopRow& shop) {
        shops.push_back(shop);
        return true;
    });
    for (const ShopRow& shop : shops) {
        reader.scan_orders(shop.account, shop.shop, visit);
    }
}

void dump_order(std::ostream& out, const OrderState& state) {
    out << name_of(state.key) << " v=" << state.version.to_string()
        << " at=" << state.ordered_at.to_string() << " " << state.amount << " " << state.tax << " "
        << state.shipping << " " << state.currency.code()
        << " cancelled=" << (state.cancelled_at ? state.cancelled_at->to_string() : "no");
    for (const OrderLine& line : state.lines) {
        out << " line(" << line.id.view() << " " << line.amount.to_string() << " " << line.present
            << ")";
    }
    for (const RefundRow& row : state.refunds) {
        out << " refund(" << row.id.view() << " " << row.line.view() << " "
            << row.amount.to_string() << " " << row.version.to_string() << ")";
    }
    for (const Position& position : state.positions) {
        out << (&position == state.position() ? " live " : " ")
            << position.attribution.creator.view() << "@" << position.attribution.program.view();
        for (const LineAccrual& accrual : position.accruals) {
            out << " accrued(" << accrual.line.view() << " " << accrual.accrued.to_string() << " "
                << accrual.allocated.to_string() << " " << accrual.currency.code() << ")";
        }
    }
    out << " events=" << state.events_count << " duplicates=" << state.duplicates_count << "\n";
}

/// The rows of a table by their keys.
std::set<std::string> keys_in(LedgerReader& reader, const DescribedTable& table) {
    std::set<std::string> keys;
    reader.scan_rows(AnyRow(table).view(), {}, [&keys](RowView row) {
        keys.insert(sort_key(row));
        return true;
    });
    return keys;
}

/// Collects the rows that lists should have, by table.
class ExpectedLists {
public:
    explicit ExpectedLists(LedgerReader& reader) : reader_(reader) {}

    std::string differences() {
        visit_orders(reader_, [this](const OrderState& state) {
            add_order(state);
            return true;
        });
        reader_.scan_payouts([this](const Payout& row) {
            add(PayoutByAccount{row.account, row.state, row.payout_id});
            add(PayoutByCreator{row.account, row.creator, row.payout_id});
            return true;
        });
        reader_.scan(PayoutRun{}, {}, [this](const PayoutRun& row) {
            add(RunByAccount{row.account, row.payout_run});
            return true;
        });
        reader_.scan(PendingApproval{}, {}, [this](const PendingApproval& row) {
            add(WaitingByState{row.account, row.state, row.command_id});
            return true;
        });
        reader_.scan(Anomaly{}, {}, [this](const Anomaly& row) {
            if (row.showing && !row.acknowledged_at) {
                attend(row.order, attention_of(row.kind), row.recorded_at);
            }
            return true;
        });
        std::string wrong = wrong_counts();
        for (const DescribedTable* table :
             {&table_of<OrderByTime>(), &table_of<OrderByCreator>(), &table_of<OrderByCode>(),
              &table_of<OrderByNumber>(), &table_of<PayoutByAccount>(),
              &table_of<PayoutByCreator>(), &table_of<RunByAccount>(), &table_of<WaitingByState>(),
              &table_of<Attention>()}) {
            if (keys_in(reader_, *table) != expected_[table]) {
                wrong += std::string("table ") + table->name + " is not what it lists; ";
            }
        }
        return wrong;
    }

private:
    void add(RowView row) { expected_[&row.table()].insert(sort_key(row)); }
    void attend(const OrderKey& order, AttentionKind kind, Timestamp since) {
        add(Attention{order.account, kind, since, order.shop, order.order_id});
        ++counts_[{order.account, kind}];
    }
    void add_order(const OrderState& state) {
        const OrderKey& key = state.key;
        add(OrderByTime{key.account, state.ordered_at, key.shop, key.order_id});
        if (state.live) {
            add(OrderByCreator{key.account, state.position()->attribution.creator, state.ordered_at,
                               key.shop, key.order_id});
        }
        for (const std::string& code : state.codes) {
            add(OrderByCode{key.account, code_number(code_digest(code)), state.ordered_at, key.shop,
                            key.order_id});
        }
        for (const std::string& number : all_numbers(state)) {
            add(OrderByNumber{key.account, key.shop, order_number_digest(number), key.order_id});
        }
        if (state.has(kOrderHeld)) {
            add_hold(state);
        }
    }
    /// The hold that holds is the one that was received last.
    void add_hold(const OrderState& state) {
        Timestamp since = kFirstInstant;
        for (const JournalGroup& group : reader_.order_journal(state)) {
            for (const JournalEntry& entry : group.entries) {
                if (entry.reason == JournalReason::kMemoHeld) {
                    since = std::max(since, group.recorded_at);
                }
            }
        }
        attend(state.key, AttentionKind::kHold, since);
    }
    std::string wrong_counts() {
        reader_.scan(AttentionCount{}, {}, [this](const AttentionCount& row) {
            counts_[{row.account, row.kind}] -= row.begun - row.ended;
            return true;
        });
        const bool sound = std::all_of(counts_.begin(), counts_.end(),
                                       [](const auto& count) { return count.second == 0; });
        return sound ? "" : "attention_counts does not count table attention; ";
    }

    LedgerReader& reader_;
    std::map<const DescribedTable*, std::set<std::string>> expected_;
    std::map<std::pair<AccountNumber, AttentionKind>, std::uint64_t> counts_;
};

std::string wrong_lists(LedgerReader& reader) {
    return ExpectedLists(reader).differences();
}

/// Compares the sums of codes and links with the orders that they attributed.
class Brought {
public:
    explicit Brought(LedgerReader& reader) {
        visit_orders(reader, [this](const OrderState& state) {
            add_order(state);
            return true;
        });
        reader.scan(CodeDay{}, {}, [this](const CodeDay& row) {
            take(row, "code " + row.code, row.orders);
            return true;
        });
        reader.scan(LinkDay{}, {}, [this](const LinkDay& row) {
            take(row, "link " + row.link.str(), {});
            return true;
        });
        reader.scan(ClickDay{}, {}, [this](const ClickDay& row) {
            orders_[name_of(row.account, row.program, row.creator, "link " + row.link.str())] -=
                row.orders;
            return true;
        });
    }

    [[nodiscard]] std::string differences() const {
        std::string wrong;
        for (const auto* sums : {&orders_, &earned_}) {
            for (const auto& sum : *sums) {
                const std::string& name = sum.first;
                const Decimal& rest = sum.second;
                const bool is_by_hand = std::any_of(
                    by_hand_.begin(), by_hand_.end(),
                    [&name](const std::string& whose) { return name.starts_with(whose); });
                if (!rest.is_zero() && (sums == &orders_ || !is_by_hand)) {
                    wrong += (sums == &orders_ ? "orders of " : "commission of ") + name +
                             " differ by " + rest.to_string() + "; ";
                }
            }
        }
        return wrong;
    }

private:
    static std::string name_of(AccountNumber account, const ProgramId& program,
                               const CreatorId& creator, const std::string& by) {
        return std::to_string(account.value) + "/" + creator.str() + "@" + program.str() + " by " +
               by;
    }
    template <class Row>
    void take(const Row& row, const std::string& by, const Decimal& orders) {
        const std::string name = name_of(row.account, row.program, row.creator, by);
        orders_[name] -= orders;
        earned_[name + " " + std::string(row.currency.code())] -= row.earned + row.adjusted;
    }
    void add_order(const OrderState& state) {
        for (const Position& position : state.positions) {
            const Attribution& from = position.attribution;
            // Such an amount stays when the order gets the same creator in another way.
            if (std::any_of(position.accruals.begin(), position.accruals.end(),
                            [](const LineAccrual& one) { return one.line.empty(); })) {
                by_hand_.insert(name_of(state.key.account, from.program, from.creator, ""));
            }
            const auto add = [&](const std::string& by) {
                const std::string name = name_of(state.key.account, from.program, from.creator, by);
                orders_[name] += Decimal(&position == state.position() ? 1 : 0, 0);
                for (const LineAccrual& accrual : position.accruals) {
                    earned_[name + " " + std::string(accrual.currency.code())] += accrual.accrued;
                }
            };
            if (const auto landed = landed_by(from)) {
                add("link " + landed->link.str());
            }
            if (const auto coded = coded_by(from, state.currency)) {
                add("code " + coded->code);
            }
        }
    }

    std::map<std::string, Decimal> orders_, earned_;
    std::set<std::string> by_hand_;  ///< The beginnings of names with amounts that were entered.
};

}  // namespace

std::string Books::broken_invariant() {
    std::string wrong = wrong_lists(*read()) + Brought(*read()).differences();
    for (const AuditFinding& finding : audit_ledger(*read(), kFindingsMax)) {
        wrong += to_string(finding) + "; ";
    }
    return wrong;
}

std::string Books::wrong_views() {
    auto* const viewed = dynamic_cast<ViewedLedger*>(&ledger_);
    return viewed == nullptr ? std::string() : viewed->wrong_views(*read());
}

std::string Books::dump() {
    std::ostringstream out;
    const auto reader = read();
    visit_orders(*reader, [&out](const OrderState& state) {
        dump_order(out, state);
        return true;
    });
    for (const std::string& row : journal()) {
        out << row << "\n";
    }
    reader->scan_journal(1, [&out](const JournalGroup& group) {
        out << to_hex(group.hash) << "\n";
        return true;
    });
    for (const auto& rows : {anomalies(), payouts(), balances("2026-03-01T00:00:00Z")}) {
        for (const std::string& row : rows) {
            out << row << "\n";
        }
    }
    const Totals totals = reader->head().totals;
    out << totals.applied << " " << totals.stale << " " << totals.duplicate << " " << totals.catalog
        << " " << totals.commands << " " << totals.dead << "\n";
    return out.str();
}

}  // namespace sluice::test
