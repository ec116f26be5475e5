// What must hold of any ledger: the sums, the chain, the indexes; and a ledger as text.
#include <map>
#include <set>
#include <sstream>
#include <tuple>

#include "core/rules/attribution.hpp"
#include "core/rules/journal.hpp"
#include "core/rules/open_amounts.hpp"
#include "core/rules/order_book.hpp"
#include "core/rules/payout_names.hpp"
#include "core/rules/pricing.hpp"
#include "unit/ledger/books.hpp"

namespace sluice::test {
namespace {

std::string name_of(const OrderKey& key) {
    return std::to_string(key.shop.value) + "/" + key.order_id.str();
}

std::string text_of(const OpenAmount& row) {
    std::ostringstream out;
    out << row.program.view() << (row.matured ? " matured " : " held ") << row.sold_at.to_string()
        << " " << row.shop.value << "/" << row.order_id.view() << " " << row.currency.code() << " "
        << row.creator.view() << " " << row.amount.to_string() << " until "
        << row.last_booked.to_string() << " blocks " << row.blocks;
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

/// What the journal says of a position or credit: by its order, program, creator, currency.
using UnitKey = std::tuple<OrderKey, ProgramId, CreatorId, Currency>;

/// Collects what is wrong; each check is one rule of the books.
class Auditor {
public:
    explicit Auditor(LedgerReader& reader) : reader_(reader) {}

    std::string run() {
        read_credits();
        walk_journal();
        read_payouts();
        visit_orders(reader_, [this](const OrderState& state) {
            orders_.push_back(state);
            return true;
        });
        for (const OrderState& state : orders_) {
            check_order(state);
        }
        check_balances();
        check_open();
        return wrong_.str();
    }

private:
    static void add(Decimal& sum, const Decimal& amount) { sum = sum + amount; }

    void read_credits() {
        reader_.scan(MoneyCommand{}, {}, [this](const MoneyCommand& row) {
            commands_[row.command_id] = row;
            if (row.topic == Topic::kCredit) {
                if (const std::optional<OpenAmount> open = open_amount(row)) {
                    open_.insert(text_of(*open));
                }
            }
            return true;
        });
    }

    /// The credit that a group books on; nullptr: none.
    const MoneyCommand* credit_of(const JournalGroup& group) {
        const auto found = commands_.find(group.command_id);
        if (found == commands_.end() || found->second.topic == Topic::kAdjust) {
            return nullptr;
        }
        const MoneyCommand& row = found->second.topic == Topic::kReverse
                                      ? commands_.at(found->second.reverses)
                                      : found->second;
        return row.topic == Topic::kCredit ? &row : nullptr;
    }

    void walk_journal() {
        std::map<AccountNumber, ChainHead> chains;
        std::uint64_t next = 1;
        reader_.scan_journal(1, [&](const JournalGroup& group) {
            if (group.first_entry != next) {
                wrong_ << "entry " << next << " is missing; ";
            }
            next = group.first_entry + group.entries.size();
            if (!verify_seal(group, chains[group.account])) {
                wrong_ << "the chain breaks at entry " << group.first_entry << "; ";
            }
            for (const JournalEntry& entry : group.entries) {
                if (!is_mark(entry.reason)) {
                    count(group, entry);
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

    void count(const JournalGroup& group, const JournalEntry& entry) {
        Balance& sum = of_balance_[{group.account, group.program, group.creator, entry.currency}];
        add(sum.owed, into(entry, Book::kOwed));
        add(sum.in_payout, into(entry, Book::kPayout));
        add(sum.paid, into(entry, Book::kPaid));
        if (entry.amount.is_zero() || entry.amount.scale() != entry.currency.minor_units()) {
            wrong_ << "entry with amount " << entry.amount.to_string() << "; ";
        }
        if (!group.payout_id.empty()) {
            add(of_payout_[group.payout_id], into(entry, Book::kPayout));
        } else if (credit_of(group) == nullptr) {
            add(of_order_[{{group.account, group.shop, group.order_id},
                           group.program,
                           group.creator,
                           entry.currency}],
                entry.amount);
        }
    }

    void read_payouts() {
        std::vector<Payout> payouts;
        reader_.scan_payouts([&payouts](const Payout& payout) {
            payouts.push_back(payout);
            return true;
        });
        for (const Payout& payout : payouts) {
            check_payout(payout);
        }
    }

    void check_payout(const Payout& payout) {
        PayoutItem first;
        first.payout_id = payout.payout_id;
        Decimal sum = zero_amount(payout.currency);
        std::vector<PayoutItem> items;
        reader_.scan(first, {1, 1}, [&](const PayoutItem& item) {
            items.push_back(item);
            return true;
        });
        for (const PayoutItem& item : items) {
            add(sum, item.amount);
            if (is_standing(payout.state) && item.kind != ItemKind::kCredit) {
                add(taken_[{{payout.account, item.shop, item.order_id},
                            item.program,
                            payout.creator,
                            payout.currency}],
                    item.amount);
            }
        }
        if (sum != payout.amount || payout.amount <= Decimal()) {
            wrong_ << payout.payout_id << ": its items sum to " << sum.to_string() << "; ";
        }
        if (items_digest(items, payout.currency) != payout.items_digest) {
            wrong_ << payout.payout_id << ": the digest is not that of its items; ";
        }
        const bool over = payout.state > PayoutState::kSent;
        if (of_payout_[payout.payout_id] != (over ? Decimal() : payout.amount)) {
            wrong_ << payout.payout_id << ": " << of_payout_[payout.payout_id].to_string()
                   << " on its book; ";
        }
    }

    void check_order(const OrderState& state) {
        for (const Position& position : state.positions) {
            for (const Currency currency : currencies_of(position)) {
                const UnitKey key{state.key, position.attribution.program,
                                  position.attribution.creator, currency};
                if (of_order_[key] != due_in(position, currency)) {
                    wrong_ << name_of(state.key) << ": due is not the sum of its journal; ";
                }
                if (taken_[key] != taken_in(position, currency)) {
                    wrong_ << name_of(state.key) << ": taken is not the sum of its items; ";
                }
                of_order_.erase(key);
            }
            check_lines(state, position);
        }
        for (const OpenAmount& row : open_amounts(state)) {
            open_.insert(text_of(row));
        }
        for (const WaitKey& key : wait_keys(state)) {
            const auto orders = reader_.waiting_orders(key, std::nullopt, 1'000'000);
            if (std::none_of(orders.begin(), orders.end(), [&](const WaitingOrder& order) {
                    return order.shop == state.key.shop && order.order_id == state.key.order_id;
                })) {
                wrong_ << name_of(state.key) << ": does not wait for its keys; ";
            }
        }
    }

    /// What is due of the lines is what the rules give; of a position that is not live, nothing.
    void check_lines(const OrderState& state, const Position& position) {
        std::map<std::pair<LineItemId, Currency>, Decimal> due;
        for (const LineDue& row : position.dues) {
            if (!row.line.empty() && !row.due.is_zero()) {
                due[{row.line, row.currency}] = row.due;
            }
        }
        std::map<std::pair<LineItemId, Currency>, Decimal> right;
        if (&position == state.position() && state.earns()) {
            const auto targets = line_commissions(state, position, StandingRefunds(state.refunds));
            for (std::size_t i = 0; i < state.lines.size(); ++i) {
                if (state.lines[i].present && !targets[i].is_zero()) {
                    right[{state.lines[i].id, state.currency}] = targets[i];
                }
            }
        }
        if (due != right) {
            wrong_ << name_of(state.key) << ": due of its lines is not what the rules give; ";
        }
    }

    void check_balances() {
        for (const auto& [key, amount] : of_order_) {
            if (!amount.is_zero()) {
                wrong_ << name_of(std::get<0>(key)) << ": journal without an order; ";
            }
        }
        reader_.scan_balances([this](const Balance& row) {
            const Balance& sum = of_balance_[row.key];
            if (sum.owed != row.owed || sum.in_payout != row.in_payout || sum.paid != row.paid) {
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
        reader_.scan(OpenAmount{}, {}, [&](const OpenAmount& open) {
            stored.insert(text_of(open));
            return true;
        });
        if (stored != open_) {
            wrong_ << "the index of open amounts is not what the orders say; ";
        }
    }

    LedgerReader& reader_;
    std::ostringstream wrong_;
    std::vector<OrderState> orders_;
    std::map<std::string, MoneyCommand> commands_;
    std::map<UnitKey, Decimal> of_order_, taken_;
    std::map<std::string, Decimal> of_payout_;
    std::map<BalanceKey, Balance> of_balance_;
    std::set<std::string> open_;
};

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
        for (const LineDue& due : position.dues) {
            out << " due(" << due.line.view() << " " << due.due.to_string() << " "
                << due.taken.to_string() << " " << due.currency.code() << ")";
        }
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
