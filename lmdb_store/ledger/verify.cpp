// The check of a whole ledger, for `sluice doctor`.
#include <map>
#include <utility>

#include "core/rules/attribution.hpp"
#include "core/rules/journal.hpp"
#include "core/rules/posting.hpp"
#include "core/rules/soundness.hpp"
#include "lmdb_store/ledger/txn.hpp"
#include "lmdb_store/ledger/whole.hpp"

namespace sluice::store {
namespace {

std::string text_of(const BalanceKey& key) {
    return "creator " + key.creator.str() + " in program " + key.program.str() + " (" +
           std::string(key.currency.code()) + ")";
}

/// One snapshot, so that every table is compared with the same state of the others.
class Verifier : public EmbeddedSnapshot {
public:
    Verifier(const Environment& env, const LedgerHandles& handles, ReadTxn txn,
             std::string_view node, std::size_t problems_max)
        : EmbeddedSnapshot(env, handles, std::move(txn), node), problems_max_(problems_max) {}

    std::vector<std::string> run() {
        guarded("the journal", [this] { check_journal(); });
        guarded("the journal's chains", [this] { check_chains(); });
        guarded("the payouts", [this] { add_payouts(); });
        guarded("the balances", [this] { check_balances(); });
        guarded("the orders", [this] { check_orders(); });
        guarded("the indexes", [this] { check_counts(); });
        return std::move(problems_);
    }

private:
    using ChainKey = std::pair<std::uint32_t, std::uint32_t>;  ///< Queue's number, account.
    struct Sums {
        Decimal total, paid;
    };

    void problem(std::string text) {
        if (problems_.size() < problems_max_) {
            problems_.push_back(std::move(text));
        }
    }
    template <class Check>
    void guarded(const char* what, Check&& check) {
        try {
            check();
        } catch (const LedgerFailure& failure) {
            if (failure.error().code != ErrorCode::kCorrupt) {
                throw;
            }
            problem(std::string(what) + " cannot be read: " + failure.error().message);
        }
    }
    void check_journal();
    void check_group(const StoredGroup& stored, std::uint64_t expected_entry);
    void check_chains();
    void add_payouts();
    void check_balances();
    void check_orders();
    void check_order(const OrderState& state);
    void check_dues(const OrderState& state, const std::vector<JournalGroup>& groups);
    void check_counts();

    std::size_t problems_max_;
    std::vector<std::string> problems_;
    std::map<ChainKey, ChainHead> chains_;
    std::map<BalanceKey, Sums> sums_;
    std::uint64_t groups_of_orders_ = 0;
    std::uint64_t orders_count_ = 0;
    std::uint64_t open_count_ = 0;
    std::uint64_t waiting_count_ = 0;
};

void Verifier::check_group(const StoredGroup& stored, std::uint64_t expected_entry) {
    const JournalGroup& group = stored.group;
    const std::string name = "journal entry " + std::to_string(group.first_entry);
    if (group.first_entry < expected_entry) {
        problem(name + " stands in the journal twice");
    } else if (group.first_entry > expected_entry) {
        problem("journal entries " + std::to_string(expected_entry) + " to " +
                std::to_string(group.first_entry - 1) + " are missing");
    }
    ChainHead& chain = chains_[{stored.node, group.order.account.value}];
    if (!verify_seal(group, chain)) {
        problem(name + " was altered, or one before it: its hash does not fit");
        chain.hash = group.hash;  // what follows is judged by itself
    }
    for (const JournalLine& line : group.lines) {
        const BalanceKey key{group.order.account, group.program, group.creator, line.currency};
        sums_[key].total = sums_[key].total + line.amount;
        if (line.amount.is_zero()) {
            problem(name + " has an amount of zero");
        }
    }
}

void Verifier::check_journal() {
    std::uint64_t next_entry = 1;
    StoredGroup stored;
    visit_prefix(rows_, Table::kJournal, {}, [&](std::string_view key, std::string_view value) {
        LedgerKeyParser parser(key);
        stored.group.first_entry = parser.u64();
        rows_.check(parser.complete() && row_value_.decode(value, stored), Table::kJournal, key);
        check_group(stored, next_entry);
        next_entry = stored.group.first_entry + stored.group.lines.size();
        return true;
    });
    const bool drained = node_.node != 0;
    if (drained && node_.head.next_entry != next_entry) {
        problem("the journal ends before entry " + std::to_string(next_entry) +
                ", the ledger's head says " + std::to_string(node_.head.next_entry));
    }
}

void Verifier::check_chains() {
    visit_prefix(rows_, Table::kChains, {}, [&](std::string_view key, std::string_view value) {
        LedgerKeyParser parser(key);
        const ChainKey chain_key{parser.u32(), parser.u32()};
        ChainHead stored;
        rows_.check(parser.complete() && row_value_.decode(value, stored), Table::kChains, key);
        const auto found = chains_.find(chain_key);
        if (found == chains_.end() || found->second.hash != stored.hash ||
            found->second.entries != stored.entries) {
            problem("the journal of account number " + std::to_string(chain_key.second) +
                    " does not end where its chain does: entries are missing at its end");
        }
        chains_.erase(chain_key);
        return true;
    });
    for (const auto& [chain_key, chain] : chains_) {
        problem("the journal of account number " + std::to_string(chain_key.second) +
                " has no chain");
    }
}

void Verifier::add_payouts() {
    scan_payouts([this](const Payout& payout) {
        Sums& sums = sums_[{payout.account, payout.program, payout.creator, payout.currency}];
        sums.paid = sums.paid + payout.amount;
        return true;
    });
}

void Verifier::check_balances() {
    scan_balances([this](const Balance& row) {
        const Sums sums = sums_[row.key];
        if (row.total != sums.total) {
            problem("the balance of " + text_of(row.key) + " is " + row.total.to_string() +
                    ", its journal says " + sums.total.to_string());
        }
        if (row.paid != sums.paid) {
            problem("the paid amount of " + text_of(row.key) + " is " + row.paid.to_string() +
                    ", its payouts say " + sums.paid.to_string());
        }
        sums_.erase(row.key);
        return true;
    });
    for (const auto& [key, sums] : sums_) {
        if (!sums.total.is_zero() || !sums.paid.is_zero()) {
            problem(text_of(key) + " has a journal, but no balance");
        }
    }
}

void Verifier::check_dues(const OrderState& state, const std::vector<JournalGroup>& groups) {
    std::map<Currency, Decimal> sums;
    for (const JournalGroup& group : groups) {
        for (const JournalLine& line : group.lines) {
            sums[line.currency] = sums[line.currency] + line.amount;
        }
    }
    for (const OrderDue& due : state.dues) {
        if (due.due != sums[due.currency]) {
            problem("order " + state.key.order_id.str() + " is due " + due.due.to_string() + " " +
                    std::string(due.currency.code()) + ", its journal says " +
                    sums[due.currency].to_string());
        }
        sums.erase(due.currency);
    }
    for (const auto& [currency, sum] : sums) {
        if (!sum.is_zero()) {
            problem("order " + state.key.order_id.str() + " has a journal in " +
                    std::string(currency.code()) + ", but nothing due");
        }
    }
}

void Verifier::check_order(const OrderState& state) {
    ++orders_count_;
    if (const std::optional<std::string> damage = damage_of(state)) {
        problem(row_name("orders", state.key) + ": " + *damage);
    }
    const std::vector<JournalGroup> groups = order_journal(state);
    groups_of_orders_ += groups.size();
    check_dues(state, groups);
    for (const OpenAmount& open : open_amounts(state)) {
        ++open_count_;
        OpenAmount stored = open;
        if (!load(stored)) {
            problem("what order " + state.key.order_id.str() +
                    " has open is not where payouts look for it");
        }
    }
    for (const WaitKey& key : wait_keys(state)) {
        ++waiting_count_;
        WaitingOrder stored{key, state.key.shop, state.key.order_id};
        if (!load(stored)) {
            problem("order " + state.key.order_id.str() +
                    " waits for a creator, but imports would not find it");
        }
    }
}

void Verifier::check_orders() {
    scan_shops([this](const ShopRow& shop) {
        scan_orders(shop.account, shop.shop, [&](const OrderState& state) {
            guarded("an order's journal", [&] { check_order(state); });
            return true;
        });
        return true;
    });
}

void Verifier::check_counts() {
    const auto expect = [this](Table table, std::uint64_t expected, const char* what) {
        const std::uint64_t stored = rows_.count(table);
        if (stored != expected) {
            problem("there are " + std::to_string(stored) + " " + what +
                    ", the orders account for " + std::to_string(expected));
        }
    };
    expect(Table::kOrders, orders_count_, "orders");
    expect(Table::kJournal, groups_of_orders_, "groups of journal entries");
    expect(Table::kOpen, open_count_, "open amounts");
    expect(Table::kWaiting, waiting_count_, "waiting orders");
}

}  // namespace

std::vector<std::string> verify_ledger(const Environment& env, const LedgerHandles& handles,
                                       ReadTxn txn, std::string_view node,
                                       std::size_t problems_max) {
    return Verifier(env, handles, std::move(txn), node, problems_max).run();
}

}  // namespace sluice::store
