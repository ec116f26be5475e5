// What must hold of any ledger: the sums, the chain, the indexes; and a ledger as text.
#include <map>
#include <set>
#include <sstream>

#include "core/rules/attribution.hpp"
#include "core/rules/journal.hpp"
#include "core/rules/posting.hpp"
#include "unit/ledger/books.hpp"

namespace sluice::test {
namespace {

std::string name_of(const OrderKey& key) {
    return std::to_string(key.shop.value) + "/" + key.order_id.str();
}

std::string text_of(const OpenAmount& row) {
    std::ostringstream out;
    out << row.program.view() << (row.adjustment ? " adjustment " : " commission ")
        << row.ordered_at.to_string() << " " << row.shop.value << "/" << row.order_id.view() << " "
        << row.currency.code() << " " << row.creator.view() << " " << row.amount.to_string();
    return out.str();
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

/// Collects what is wrong; each check is one rule of the books.
class Auditor {
public:
    explicit Auditor(LedgerReader& reader) : reader_(reader) {}

    std::string run() {
        walk_journal();
        visit_orders(reader_, [this](const OrderState& state) {
            check_order(state);
            return true;
        });
        check_balances();
        check_open();
        return wrong_.str();
    }

private:
    using OrderMoney = std::map<std::pair<OrderKey, Currency>, Decimal>;

    static void add(Decimal& sum, const Decimal& amount) { sum = sum + amount; }

    void walk_journal() {
        std::map<AccountNumber, ChainHead> chains;
        std::uint64_t next = 1;
        reader_.scan_journal(1, [&](const JournalGroup& group) {
            if (group.first_entry != next) {
                wrong_ << "entry " << next << " is missing; ";
            }
            next = group.first_entry + group.lines.size();
            if (!verify_seal(group, chains[group.order.account])) {
                wrong_ << "the chain breaks at entry " << group.first_entry << "; ";
            }
            for (const JournalLine& entry : group.lines) {
                add(of_order_[{group.order, entry.currency}], entry.amount);
                add(of_balance_[{group.order.account, group.program, group.creator,
                                 entry.currency}],
                    entry.amount);
                if (entry.amount.is_zero() ||
                    entry.amount.scale() != entry.currency.minor_units()) {
                    wrong_ << "entry with amount " << entry.amount.to_string() << "; ";
                }
            }
            return true;
        });
        if (next != reader_.head().next_entry) {
            wrong_ << "the head expects another entry; ";
        }
        for (const auto& [account, chain] : chains) {
            if (reader_.chain(account).hash != chain.hash) {
                wrong_ << "the chain's head is another; ";
            }
        }
    }

    void check_order(const OrderState& state) {
        for (const OrderDue& due : state.dues) {
            if (of_order_[{state.key, due.currency}] != due.due) {
                wrong_ << name_of(state.key) << ": due is not the sum of its journal; ";
            }
            if (state.attribution) {
                add(settled_[{state.key.account, state.attribution->program,
                              state.attribution->creator, due.currency}],
                    due.settled);
            }
            of_order_.erase({state.key, due.currency});
        }
        for (const OpenAmount& row : open_amounts(state)) {
            open_.insert(text_of(row));
        }
        for (const WaitKey& key : wait_keys(state)) {
            WaitingOrder stored{key, state.key.shop, state.key.order_id};
            if (!reader_.load(stored)) {
                wrong_ << name_of(state.key) << ": does not wait for its keys; ";
            }
        }
    }

    void check_balances() {
        for (const auto& [key, amount] : of_order_) {
            if (!amount.is_zero()) {
                wrong_ << name_of(key.first) << ": journal without an order; ";
            }
        }
        reader_.scan_balances([this](const Balance& row) {
            if (of_balance_[row.key] != row.total || settled_[row.key] != row.paid) {
                wrong_ << row.key.creator.view() << ": balance is not the fold; ";
            }
            of_balance_.erase(row.key);
            return true;
        });
        for (const auto& [key, amount] : of_balance_) {
            wrong_ << key.creator.view() << ": no balance; ";
        }
    }

    void check_open() {
        std::set<std::string> stored;
        reader_.scan_programs([&](const ProgramRow& row) {
            for (const bool adjustment : {false, true}) {
                reader_.scan_open(row.program.account, row.program.id, adjustment,
                                  instant("0001-01-01T00:00:00Z"), instant("9999-01-01T00:00:00Z"),
                                  [&](const OpenAmount& open) {
                                      stored.insert(text_of(open));
                                      return true;
                                  });
            }
            return true;
        });
        if (stored != open_) {
            wrong_ << "the index of open amounts is not what the orders say; ";
        }
    }

    LedgerReader& reader_;
    std::ostringstream wrong_;
    OrderMoney of_order_;
    std::map<BalanceKey, Decimal> of_balance_, settled_;
    std::set<std::string> open_;
};

void dump_order(std::ostream& out, const OrderState& state) {
    out << name_of(state.key) << " v=" << state.version.to_string()
        << " at=" << state.ordered_at.to_string() << " " << state.amount << " " << state.tax << " "
        << state.shipping << " " << state.currency.code()
        << " cancelled=" << (state.cancelled_at ? state.cancelled_at->to_string() : "no");
    for (const OrderLine& line : state.lines) {
        out << " line(" << line.id.view() << " " << line.amount.to_string() << " " << line.present
            << " " << line.commission.to_string() << ")";
    }
    for (const RefundRow& row : state.refunds) {
        out << " refund(" << row.id.view() << " " << row.line.view() << " "
            << row.amount.to_string() << " " << row.version.to_string() << ")";
    }
    if (state.attribution) {
        out << " " << state.attribution->creator.view() << "@" << state.attribution->program.view();
    }
    for (const OrderDue& due : state.dues) {
        out << " due(" << due.due.to_string() << " " << due.settled.to_string() << " "
            << due.currency.code() << ")";
    }
    out << " events=" << state.events_count << " duplicates=" << state.duplicates_count << "\n";
}

}  // namespace

std::string Books::broken_invariant() {
    return Auditor(*read()).run();
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
