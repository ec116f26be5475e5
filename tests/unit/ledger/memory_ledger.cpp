#include "unit/ledger/memory_ledger.hpp"

#include <algorithm>
#include <stdexcept>

namespace sluice::test {
namespace {

template <class Map, class Key>
auto find_in(const Map& map, const Key& key) -> std::optional<typename Map::mapped_type> {
    const auto found = map.find(key);
    return found == map.end() ? std::nullopt : std::optional(found->second);
}

template <class Map, class Row>
void scan_map(const Map& map, const Visitor<Row>& visit) {
    for (const auto& [key, row] : map) {
        if (!visit(row)) {
            return;
        }
    }
}

class MemoryTxn final : public LedgerTxn {
public:
    /// `home`: where commit() puts the tables; nullptr: a snapshot.
    MemoryTxn(std::shared_ptr<MemoryTables>* home, const MemoryTables& tables,
              std::string_view node)
        : home_(home), t_(std::make_shared<MemoryTables>(tables)) {
        t_->head.node = node;
    }

    bool load_order(const OrderKey& key, OrderState& state) override {
        const auto found = t_->orders.find(key);
        if (found != t_->orders.end()) {
            state = found->second;
        }
        return found != t_->orders.end();
    }
    bool has_event(const OrderKey& key, Topic topic, const EventDigest& digest) override {
        const std::vector<EventTrace>& events = t_->events[key];
        return std::any_of(events.begin(), events.end(), [&](const EventTrace& event) {
            return event.topic == topic && event.digest == digest;
        });
    }
    std::optional<RefundOwner> refund_owner(AccountNumber account, ShopNumber shop,
                                            std::string_view refund_id) override {
        return find_in(t_->refund_owners, std::tuple(account, shop, std::string(refund_id)));
    }
    std::optional<Anomaly> anomaly(const OrderKey& key, AnomalyKind kind) override {
        return find_in(t_->anomalies, std::pair(key, kind));
    }
    std::vector<CodeRow> code_owners(AccountNumber account, const Digest256& code) override {
        std::vector<CodeRow> rows;
        for (auto at = t_->codes.lower_bound({account, code, ProgramId()});
             at != t_->codes.end() && at->second.account == account && at->second.digest == code;
             ++at) {
            rows.push_back(at->second);
        }
        return rows;
    }
    std::optional<Membership> membership(AccountNumber account, const ProgramId& program,
                                         const CreatorId& creator) override {
        return find_in(t_->memberships, std::tuple(account, program, creator));
    }
    void visit_touches(AccountNumber account, const Digest256& anon, const ProgramId& program,
                       Timestamp upto, const Visitor<Touch>& visit) override {
        std::vector<Touch> touches;
        for (const auto& [key, touch] : t_->touches) {
            if (touch.account == account && touch.anon == anon && touch.program == program &&
                touch.occurred_at <= upto) {
                touches.push_back(touch);
            }
        }
        for (auto at = touches.rbegin(); at != touches.rend() && visit(*at); ++at) {
        }
    }
    std::vector<ProgramRow> programs(AccountNumber account) override {
        std::vector<ProgramRow> rows;
        for (const auto& [id, versions] : t_->programs) {
            if (versions.rbegin()->second.program.account == account) {
                rows.push_back(versions.rbegin()->second);
            }
        }
        return rows;
    }
    std::optional<CatalogKey> find_variant(AccountNumber account, ShopNumber shop,
                                           std::string_view variant_sku) override {
        const auto at = t_->variants.lower_bound(
            {account, shop, std::string(variant_sku), {}, {}, ProductId()});
        if (at == t_->variants.end() || std::get<0>(at->first) != account ||
            std::get<1>(at->first) != shop || std::get<2>(at->first) != variant_sku) {
            return std::nullopt;
        }
        return at->second;
    }
    std::vector<CatalogKey> product_copies(AccountNumber account, ShopNumber shop,
                                           const ProductId& product) override {
        std::vector<CatalogKey> keys;
        for (const auto& [key, record] : t_->catalog) {
            if (key.account == account && key.shop == shop && key.product_id == product) {
                keys.push_back(key);
            }
        }
        return keys;
    }
    std::optional<CatalogRecord> catalog(const CatalogKey& key) override {
        return find_in(t_->catalog, key);
    }

    const LedgerHead& head() const override { return t_->head; }
    ChainHead chain(AccountNumber account) override { return t_->chains[account]; }
    std::optional<ShopRow> shop(ShopNumber shop) override {
        for (const auto& [id, row] : t_->shops) {
            if (row.shop == shop) {
                return row;
            }
        }
        return std::nullopt;
    }
    std::optional<ProgramRow> program(const ProgramId& program) override {
        const auto found = t_->programs.find(program);
        return found == t_->programs.end() ? std::nullopt
                                           : std::optional(found->second.rbegin()->second);
    }
    std::optional<ProgramRow> program_version(const ProgramId& program,
                                              std::uint32_t version) override {
        const auto found = t_->programs.find(program);
        return found == t_->programs.end() ? std::nullopt : find_in(found->second, version);
    }
    std::optional<CommandRow> command(SequenceNumber seq) override {
        return find_in(t_->commands, seq);
    }
    std::optional<DeadLetter> dead_letter(SequenceNumber seq) override {
        return find_in(t_->dead, seq);
    }
    std::optional<Balance> balance(const BalanceKey& key) override {
        return find_in(t_->balances, key);
    }
    std::vector<JournalGroup> order_journal(const OrderState& state) override {
        std::set<std::uint64_t> firsts(state.other_groups.begin(), state.other_groups.end());
        for (const EventTrace& event : state.events) {
            firsts.insert(event.first_entry);
        }
        for (const EventTrace& event : t_->events[state.key]) {
            firsts.insert(event.first_entry);
        }
        firsts.erase(0);
        std::vector<JournalGroup> groups;
        for (const std::uint64_t first : firsts) {
            groups.push_back(t_->journal.at(first));
        }
        return groups;
    }

    void scan_shops(const Visitor<ShopRow>& visit) override { scan_map(t_->shops, visit); }
    void scan_orders(AccountNumber account, ShopNumber shop,
                     const Visitor<OrderState>& visit) override {
        for (const auto& [key, state] : t_->orders) {
            if (key.account == account && key.shop == shop && !visit(state)) {
                return;
            }
        }
    }
    void scan_events(const OrderKey& key, const Visitor<EventTrace>& visit) override {
        for (const EventTrace& event : t_->events[key]) {
            if (!visit(event)) {
                return;
            }
        }
    }
    void scan_journal(std::uint64_t from_entry, const Visitor<JournalGroup>& visit) override {
        for (auto at = t_->journal.lower_bound(from_entry); at != t_->journal.end(); ++at) {
            if (!visit(at->second)) {
                return;
            }
        }
    }
    void scan_balances(const Visitor<Balance>& visit) override { scan_map(t_->balances, visit); }
    void scan_open(AccountNumber account, const ProgramId& program, bool adjustment, Timestamp from,
                   Timestamp to, const Visitor<OpenAmount>& visit) override {
        const MemoryTables::OpenKey first{account, program, adjustment, from, {}, {}, {}};
        for (auto at = t_->open.lower_bound(first); at != t_->open.end(); ++at) {
            const OpenAmount& row = at->second;
            if (row.account != account || row.program != program || row.adjustment != adjustment ||
                row.ordered_at > to || !visit(row)) {
                return;
            }
        }
    }
    void scan_anomalies(AccountNumber account, ShopNumber shop,
                        const Visitor<Anomaly>& visit) override {
        for (const auto& [key, row] : t_->anomalies) {
            if (key.first.account == account && key.first.shop == shop && !visit(row)) {
                return;
            }
        }
    }
    void scan_catalog(AccountNumber account, ShopNumber shop,
                      const Visitor<CatalogRecord>& visit) override {
        for (const auto& [key, row] : t_->catalog) {
            if (key.account == account && key.shop == shop && !visit(row)) {
                return;
            }
        }
    }
    void scan_payouts(const Visitor<Payout>& visit) override {
        for (const Payout& payout : t_->payouts) {
            if (!visit(payout)) {
                return;
            }
        }
    }
    void scan_programs(const Visitor<ProgramRow>& visit) override {
        for (const auto& [id, versions] : t_->programs) {
            if (!visit(versions.rbegin()->second)) {
                return;
            }
        }
    }
    void scan_memberships(AccountNumber account, const ProgramId& program,
                          const Visitor<Membership>& visit) override {
        for (const auto& [key, row] : t_->memberships) {
            if (row.account == account && row.program == program && !visit(row)) {
                return;
            }
        }
    }
    void scan_codes(AccountNumber account, const ProgramId& program,
                    const Visitor<CodeRow>& visit) override {
        for (const auto& [key, row] : t_->codes) {
            if (row.account == account && row.program == program && !visit(row)) {
                return;
            }
        }
    }
    void scan_commands(const Visitor<CommandRow>& visit) override { scan_map(t_->commands, visit); }
    void scan_dead(const Visitor<DeadLetter>& visit) override { scan_map(t_->dead, visit); }
    std::optional<Work> first_work() override {
        return t_->work.empty() ? std::nullopt : std::optional(t_->work.begin()->second);
    }

    std::vector<OrderKey> waiting_orders(const WaitKey& key, const std::optional<OrderKey>& after,
                                         std::size_t max) override {
        std::vector<OrderKey> orders;
        const std::set<OrderKey>& all = t_->waiting[key];
        auto at = after ? all.upper_bound(*after) : all.begin();
        for (; at != all.end() && orders.size() < max; ++at) {
            orders.push_back(*at);
        }
        return orders;
    }
    std::optional<WaitKey> next_waiting(const WaitKey& from) override {
        for (auto at = t_->waiting.lower_bound(from); at != t_->waiting.end(); ++at) {
            if (at->first.account != from.account || at->first.kind != from.kind) {
                break;
            }
            if (!at->second.empty()) {
                return at->first;
            }
        }
        return std::nullopt;
    }
    std::optional<WaitKey> next_source(const WaitKey& from) override {
        if (from.kind == WaitKind::kAnon) {
            const auto at = t_->touches.lower_bound({from.account, from.digest, {}, {}, {}});
            if (at != t_->touches.end() && at->second.account == from.account) {
                return WaitKey{from.account, from.kind, at->second.anon};
            }
            return std::nullopt;
        }
        const auto at = t_->codes.lower_bound({from.account, from.digest, {}});
        if (at != t_->codes.end() && at->second.account == from.account) {
            return WaitKey{from.account, from.kind, at->second.digest};
        }
        return std::nullopt;
    }

    void prefetch(const BatchKeys& /*keys*/) override {}
    void prefetch_skus(std::span<const BatchKeys::ShopText> /*skus*/) override {}
    bool wants_prefetch() const noexcept override { return true; }
    LedgerHead& mutable_head() override { return t_->head; }
    ChainHead& mutable_chain(AccountNumber account) override { return t_->chains[account]; }
    void put_shop(const ShopRow& row) override { t_->shops[row.shop_id] = row; }
    void put_order(const OrderState& state) override { t_->orders[state.key] = state; }
    void put_event(const OrderKey& key, const EventTrace& event) override {
        t_->events[key].push_back(event);
    }
    void put_refund_owner(AccountNumber account, ShopNumber shop, std::string_view refund_id,
                          const RefundOwner& owner) override {
        t_->refund_owners[{account, shop, std::string(refund_id)}] = owner;
    }
    void put_anomaly(const Anomaly& anomaly) override {
        t_->anomalies[{anomaly.order, anomaly.kind}] = anomaly;
    }
    void append_journal(const JournalGroup& group) override {
        if (!t_->journal.emplace(group.first_entry, group).second) {
            throw std::logic_error("a journal entry was written twice");
        }
    }
    void add_to_balance(const BalanceKey& key, const Decimal& total, const Decimal& paid) override {
        Balance& row = t_->balances[key];
        row.key = key;
        row.total = row.total + total;
        row.paid = row.paid + paid;
    }
    void put_open(const OpenAmount& row) override { t_->open[key_of(row)] = row; }
    void delete_open(const OpenAmount& row) override { t_->open.erase(key_of(row)); }
    void put_waiting(const WaitKey& key, const OrderKey& order) override {
        t_->waiting[key].insert(order);
    }
    void delete_waiting(const WaitKey& key, const OrderKey& order) override {
        t_->waiting[key].erase(order);
    }
    void put_code(const CodeRow& row) override {
        t_->codes[{row.account, row.digest, row.program}] = row;
    }
    void delete_code(const CodeRow& row) override {
        t_->codes.erase({row.account, row.digest, row.program});
    }
    void put_membership(const Membership& row) override {
        t_->memberships[{row.account, row.program, row.creator}] = row;
    }
    void put_touch(const Touch& row) override {
        t_->touches[{row.account, row.anon, row.program, row.occurred_at, row.creator}] = row;
    }
    void put_program(const ProgramRow& row) override {
        t_->programs[row.program.id][row.version] = row;
    }
    void put_catalog(const CatalogRecord& record, const CatalogRecord* old) override {
        if (old != nullptr) {
            delete_catalog(*old);
        }
        t_->catalog[record.key] = record;
        for (const std::string& sku : record.variant_skus) {
            t_->variants[variant_key(record.key, sku)] = record.key;
        }
    }
    void delete_catalog(const CatalogRecord& old) override {
        for (const std::string& sku : old.variant_skus) {
            t_->variants.erase(variant_key(old.key, sku));
        }
        t_->catalog.erase(old.key);
    }
    void put_payout(const Payout& payout) override { t_->payouts.push_back(payout); }
    void put_command(const CommandRow& row) override { t_->commands[row.seq] = row; }
    void put_dead_letter(const DeadLetter& letter) override { t_->dead[letter.seq] = letter; }
    void delete_dead_letter(SequenceNumber seq) override { t_->dead.erase(seq); }
    void put_work(const Work& work) override { t_->work[work.number] = work; }
    void delete_work(std::uint64_t number) override { t_->work.erase(number); }

    void commit() override { *home_ = t_; }

private:
    static MemoryTables::OpenKey key_of(const OpenAmount& row) {
        return {row.account, row.program,  row.adjustment, row.ordered_at,
                row.shop,    row.order_id, row.currency};
    }
    static MemoryTables::VariantKey variant_key(const CatalogKey& key, const std::string& sku) {
        return {key.account, key.shop, sku, key.language, key.country, key.product_id};
    }

    std::shared_ptr<MemoryTables>* home_;
    std::shared_ptr<MemoryTables> t_;
};

}  // namespace

MemoryLedger::MemoryLedger() : tables_(std::make_shared<MemoryTables>()) {}

std::unique_ptr<LedgerTxn> MemoryLedger::begin(std::string_view node) {
    return std::make_unique<MemoryTxn>(&tables_, *tables_, node);
}

std::unique_ptr<LedgerReader> MemoryLedger::snapshot(std::string_view node) {
    return std::make_unique<MemoryTxn>(nullptr, *tables_, node);
}

}  // namespace sluice::test
