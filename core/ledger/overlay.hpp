// Overlay: changes in memory on top of a reader, so that a command can be tried (books A4).
//
// What is read is the reader's state with the changes in it. Nothing is written anywhere: commit()
// throws. Overlays may lie on one another: an overlay is a reader.
//
// Memory: the rows that were changed. Rows that are put while a scan of their table runs may or may
// not be visited by it. Products cannot be changed: put_catalog() and delete_catalog() throw.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "core/ledger/sort_key.hpp"

namespace sluice {

/// Changed rows by their sort keys; nothing: erased.
template <class Rows>
struct OverlayRows;
template <class... Rows>
struct OverlayRows<RowTypes<Rows...>> {
    std::tuple<std::map<std::string, std::optional<Rows>>...> tables;

    template <class Row>
    std::map<std::string, std::optional<Row>>& of() {
        return std::get<std::map<std::string, std::optional<Row>>>(tables);
    }
};

class OverlayRoot : public LedgerTxn {
protected:
    explicit OverlayRoot(LedgerReader& below) : below_(below) {}

    LedgerReader& below_;
    OverlayRows<DescribedRows> rows_;
};

template <class Row, class Base>
class OverlayTable : public Base {
public:
    using Base::Base;
    using Base::erase;
    using Base::load;
    using Base::put;
    using Base::scan;

    bool load(Row& row) override {
        const auto own = rows().find(sort_key(row));
        if (own == rows().end()) {
            return this->below_.load(row);
        }
        if (own->second) {
            row = *own->second;
        }
        return own->second.has_value();
    }

    void scan(const Row& first, KeyRange range, const Visitor<Row>& visit) override {
        const std::string same = sort_key(first, range.same);
        auto own = rows().lower_bound(sort_key(first, range.from));
        bool goes_on = true;
        // Own rows up to `key`; nullptr: all that are left. True: `key` is among them.
        const auto visit_own = [&](const std::string* key) {
            bool found = false;
            while (goes_on && !found && own != rows().end() && own->first.starts_with(same) &&
                   (key == nullptr || own->first <= *key)) {
                found = key != nullptr && own->first == *key;
                goes_on = !own->second || visit(*own->second);
                ++own;
            }
            return found;
        };
        this->below_.scan(first, range, [&](const Row& row) {
            const std::string key = sort_key(row);
            const bool replaced = visit_own(&key);
            goes_on = goes_on && (replaced || visit(row));
            return goes_on;
        });
        visit_own(nullptr);
    }

    void put(const Row& row) override { rows()[sort_key(row)] = row; }
    void erase(const Row& row) override { rows()[sort_key(row)] = std::nullopt; }

private:
    std::map<std::string, std::optional<Row>>& rows() { return this->rows_.template of<Row>(); }
};

class Overlay : public ForEachTable<OverlayTable, OverlayRoot> {
public:
    /// Requires: `below` outlives it and does not change.
    explicit Overlay(LedgerReader& below);

    /// Orders that were put, as they are now.
    [[nodiscard]] const std::map<OrderKey, OrderState>& changed_orders() const noexcept {
        return orders_;
    }

    bool load_order(const OrderKey& key, OrderState& state) override;
    void expect_orders(std::span<const OrderKey> keys) override { below_.expect_orders(keys); }
    bool has_event(const OrderKey& key, Topic topic, const EventDigest& digest) override;
    void visit_touches(AccountNumber account, const Digest256& anon, const ProgramId& program,
                       Timestamp upto, const Visitor<Touch>& visit) override;
    std::optional<CatalogKey> find_variant(AccountNumber account, ShopNumber shop,
                                           std::string_view variant_sku) override;
    std::vector<CatalogKey> product_copies(AccountNumber account, ShopNumber shop,
                                           const ProductId& product) override;
    std::optional<CatalogRecord> catalog(const CatalogKey& key) override;

    const LedgerHead& head() const override { return head_; }
    ChainHead chain(AccountNumber account) override { return mutable_chain(account); }
    std::optional<Balance> balance(const BalanceKey& key) override;
    std::vector<JournalGroup> order_journal(const OrderState& state) override;

    void scan_shops(const Visitor<ShopRow>& visit) override;
    void scan_orders(AccountNumber account, ShopNumber shop,
                     const Visitor<OrderState>& visit) override;
    void scan_events(const OrderKey& key, const Visitor<EventTrace>& visit) override;
    void scan_journal(std::uint64_t from_entry, const Visitor<JournalGroup>& visit) override;
    void scan_balances(const Visitor<Balance>& visit) override;
    void scan_catalog(AccountNumber account, ShopNumber shop,
                      const Visitor<CatalogRecord>& visit) override;
    void scan_creator_journal(AccountNumber account, const CreatorId& creator, Timestamp from,
                              Timestamp to, const Visitor<JournalGroup>& visit) override;
    void scan_account_journal(AccountNumber account, Timestamp from, Timestamp to,
                              const Visitor<JournalGroup>& visit) override;
    void scan_heads(const Visitor<LedgerHead>& visit) override;
    void scan_chains(const Visitor<NodeChain>& visit) override;

    LedgerHead& mutable_head() override { return head_; }
    ChainHead& mutable_chain(AccountNumber account) override;
    void put_order(const OrderState& state) override { orders_[state.key] = state; }
    void put_event(const OrderKey& key, const EventTrace& event) override;
    void append_journal(const JournalGroup& group) override { journal_.push_back(group); }
    void add_to_balance(const Balance& change) override;
    void put_catalog(const CatalogRecord& record, const CatalogRecord* old) override;
    void delete_catalog(const CatalogRecord& old) override;
    void commit() override;

private:
    using Events = std::map<SequenceNumber, EventTrace>;

    [[nodiscard]] std::vector<const JournalGroup*> own_groups(
        const std::function<bool(const JournalGroup&)>& wanted) const;

    LedgerHead head_;
    std::map<AccountNumber, ChainHead> chains_;
    std::map<OrderKey, OrderState> orders_;
    std::map<OrderKey, Events> events_;
    std::vector<JournalGroup> journal_;       ///< By entry.
    std::map<BalanceKey, Balance> balances_;  ///< What is added to those below.
};

}  // namespace sluice
