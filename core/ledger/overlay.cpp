#include "core/ledger/overlay.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace sluice {
namespace {

/// Visits the rows that `below` scans and those of `own`, which is sorted, in the order of
/// `key_of`. Of two rows with the same key, visits the one of `own`.
template <class Row, class Own, class KeyOf, class Below>
void scan_both(const Own& own, KeyOf key_of, const Visitor<Row>& visit, Below below) {
    auto at = own.begin();
    bool goes_on = true;
    below([&](const Row& row) {
        while (goes_on && at != own.end() && key_of(*at) < key_of(row)) {
            goes_on = visit(*at++);
        }
        const bool replaced = goes_on && at != own.end() && key_of(*at) == key_of(row);
        goes_on = goes_on && visit(replaced ? *at++ : row);
        return goes_on;
    });
    for (; goes_on && at != own.end(); ++at) {
        goes_on = visit(*at);
    }
}

[[noreturn]] void refuse(const char* what) {
    throw LedgerFailure({ErrorCode::kUnsupported, std::string("a dry run cannot ") + what});
}

auto dated_key(const JournalGroup& group) {
    return std::tie(group.creator, group.accounting_date, group.node, group.first_entry);
}

}  // namespace

Overlay::Overlay(LedgerReader& below) : below_(below), head_(below.head()) {}

// ---- Described rows -----------------------------------------------------------------------------

bool Overlay::load_row(RowRef row) {
    const Rows& rows = rows_[row.table().number];
    const auto own = rows.find(sort_key(row));
    if (own == rows.end()) {
        return below_.load_row(row);
    }
    if (own->second) {
        row.assign(own->second->view());
    }
    return own->second.has_value();
}

void Overlay::scan_rows(RowView first, KeyRange range, const RowVisitor& visit) {
    const Rows& rows = rows_[first.table().number];
    const std::string same = sort_key(first, range.same);
    auto own = rows.lower_bound(sort_key(first, range.from));
    bool more = true;
    // Visits own rows up to `key`, or all that are left if it is nullptr. Returns whether `key` is
    // among them.
    const auto visit_own = [&](const std::string* key) {
        bool found = false;
        while (more && !found && own != rows.end() && own->first.starts_with(same) &&
               (key == nullptr || own->first <= *key)) {
            found = key != nullptr && own->first == *key;
            more = !own->second || visit(own->second->view());
            ++own;
        }
        return found;
    };
    below_.scan_rows(first, range, [&](RowView row) {
        const std::string key = sort_key(row);
        const bool replaced = visit_own(&key);
        more = more && (replaced || visit(row));
        return more;
    });
    visit_own(nullptr);
}

void Overlay::put_row(RowView row) {
    rows_[row.table().number].insert_or_assign(sort_key(row), AnyRow(row));
}

void Overlay::erase_row(RowView row) {
    rows_[row.table().number].insert_or_assign(sort_key(row), std::nullopt);
}

// ---- Orders and their events --------------------------------------------------------------------

bool Overlay::load_order(const OrderKey& key, OrderState& state) {
    const auto own = orders_.find(key);
    if (own == orders_.end()) {
        return below_.load_order(key, state);
    }
    state = own->second;
    return true;
}

bool Overlay::has_event(const OrderKey& key, Topic topic, const EventDigest& digest) {
    if (!events_.contains(key)) {
        return below_.has_event(key, topic, digest);
    }
    bool found = false;
    scan_events(key, [&](const EventTrace& event) {
        found = event.topic == topic && event.digest == digest;
        return !found;
    });
    return found;
}

std::optional<JournalGroup> Overlay::journal_group(std::string_view node,
                                                   std::uint64_t first_entry) {
    for (const JournalGroup& group : journal_) {
        if (group.node == node && group.first_entry == first_entry) {
            return group;
        }
    }
    return below_.journal_group(node, first_entry);
}

void Overlay::scan_orders(AccountNumber account, ShopNumber shop,
                          const Visitor<OrderState>& visit) {
    std::vector<OrderState> own;
    for (const auto& [key, state] : orders_) {
        if (key.account == account && key.shop == shop) {
            own.push_back(state);
        }
    }
    scan_both<OrderState>(
        own, [](const OrderState& state) -> const OrderKey& { return state.key; }, visit,
        [&](const Visitor<OrderState>& below) { below_.scan_orders(account, shop, below); });
}

void Overlay::scan_events(const OrderKey& key, const Visitor<EventTrace>& visit) {
    std::vector<EventTrace> own;
    for (const auto& [seq, event] : events_[key]) {
        own.push_back(event);
    }
    scan_both<EventTrace>(
        own, [](const EventTrace& event) { return event.seq; }, visit,
        [&](const Visitor<EventTrace>& below) { below_.scan_events(key, below); });
}

// ---- Clicks, shops ------------------------------------------------------------------------------

void Overlay::visit_clicks(AccountNumber account, const Digest256& anon, const ProgramId& program,
                           Timestamp upto, const Visitor<Click>& visit) {
    std::vector<Click> clicks;
    Click first;
    first.account = account;
    first.anon = anon;
    first.program = program;
    scan(first, {3, 3}, [&](const Click& click) {
        if (click.occurred_at <= upto) {
            clicks.push_back(click);
        }
        return click.occurred_at <= upto;
    });
    for (auto at = clicks.rbegin(); at != clicks.rend() && visit(*at); ++at) {
    }
}

void Overlay::scan_shops(const Visitor<ShopRow>& visit) {
    std::map<ShopId, ShopRow> by_id;
    scan(ShopRow{}, {}, [&by_id](const ShopRow& row) {
        by_id[row.shop_id] = row;
        return true;
    });
    for (const auto& [id, row] : by_id) {
        if (!visit(row)) {
            return;
        }
    }
}

// ---- Journal and balances -----------------------------------------------------------------------

ChainHead& Overlay::mutable_chain(AccountNumber account) {
    const auto own = chains_.find(account);
    return own != chains_.end() ? own->second
                                : chains_.emplace(account, below_.chain(account)).first->second;
}

std::vector<JournalGroup> Overlay::own_groups(
    const std::function<bool(const JournalGroup&)>& wanted) const {
    std::vector<JournalGroup> groups;
    std::copy_if(journal_.begin(), journal_.end(), std::back_inserter(groups), wanted);
    return groups;
}

std::vector<JournalGroup> Overlay::order_journal(const OrderState& state) {
    std::vector<JournalGroup> groups;
    OrderState stored;
    if (below_.load_order(state.key, stored)) {
        groups = below_.order_journal(stored);
    }
    std::vector<JournalGroup> own = own_groups([&state](const JournalGroup& group) {
        return group.account == state.key.account && group.shop == state.key.shop &&
               group.order_id == state.key.order_id;
    });
    std::move(own.begin(), own.end(), std::back_inserter(groups));
    return groups;
}

void Overlay::scan_journal(std::uint64_t from_entry, const Visitor<JournalGroup>& visit) {
    const std::vector<JournalGroup> own = own_groups(
        [from_entry](const JournalGroup& group) { return group.first_entry >= from_entry; });
    scan_both<JournalGroup>(
        own, [](const JournalGroup& group) { return std::tie(group.node, group.first_entry); },
        visit, [&](const Visitor<JournalGroup>& below) { below_.scan_journal(from_entry, below); });
}

void Overlay::scan_creator_journal(AccountNumber account, const CreatorId& creator, Timestamp from,
                                   Timestamp to, const Visitor<JournalGroup>& visit) {
    scan_account_journal(account, from, to, [&](const JournalGroup& group) {
        return group.creator != creator || visit(group);
    });
}

void Overlay::scan_account_journal(AccountNumber account, Timestamp from, Timestamp to,
                                   const Visitor<JournalGroup>& visit) {
    std::vector<JournalGroup> own = own_groups([&](const JournalGroup& one) {
        return one.account == account && !one.creator.empty() && one.accounting_date >= from &&
               one.accounting_date < to;
    });
    std::sort(own.begin(), own.end(), [](const JournalGroup& a, const JournalGroup& b) {
        return dated_key(a) < dated_key(b);
    });
    scan_both<JournalGroup>(own, dated_key, visit, [&](const Visitor<JournalGroup>& below) {
        below_.scan_account_journal(account, from, to, below);
    });
}

std::optional<Balance> Overlay::balance(const BalanceKey& key) {
    std::optional<Balance> sum = below_.balance(key);
    const auto own = balances_.find(key);
    if (own != balances_.end()) {
        if (sum) {
            *sum += own->second;
        } else {
            sum = own->second;
        }
    }
    return sum;
}

void Overlay::scan_balances_from(const BalanceKey& from, const Visitor<Balance>& visit) {
    std::vector<Balance> sums;
    for (auto own = balances_.lower_bound(from); own != balances_.end(); ++own) {
        sums.push_back(*balance(own->first));
    }
    scan_both<Balance>(
        sums, [](const Balance& row) -> const BalanceKey& { return row.key; }, visit,
        [&](const Visitor<Balance>& below) { below_.scan_balances_from(from, below); });
}

void Overlay::add_to_balance(const Balance& change) {
    const auto [own, added] = balances_.try_emplace(change.key, change);
    if (!added) {
        own->second += change;
    }
}

void Overlay::scan_heads(const Visitor<LedgerHead>& visit) {
    const std::vector<LedgerHead> own{head_};
    scan_both<LedgerHead>(
        own, [](const LedgerHead& head) -> const std::string& { return head.node; }, visit,
        [this](const Visitor<LedgerHead>& below) { below_.scan_heads(below); });
}

void Overlay::scan_chains(const Visitor<NodeChain>& visit) {
    std::vector<NodeChain> own;
    for (const auto& [account, chain] : chains_) {
        own.push_back({head_.node, account, chain});
    }
    scan_both<NodeChain>(
        own, [](const NodeChain& chain) { return std::tie(chain.node, chain.account); }, visit,
        [this](const Visitor<NodeChain>& below) { below_.scan_chains(below); });
}

// ---- What an overlay does not do ----------------------------------------------------------------

void Overlay::put_catalog(const CatalogRecord& /*record*/, const CatalogRecord* /*old*/) {
    refuse("change products");
}

void Overlay::delete_catalog(const CatalogRecord& /*old*/) {
    refuse("change products");
}

void Overlay::commit() {
    refuse("be committed");
}

}  // namespace sluice
