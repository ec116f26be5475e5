// Overlay: changes in memory on top of a reader, so that a command can be tried (rule A4).
//
// Reads give the reader's state with the changes in it. Nothing is written: commit() throws.
// An overlay is a reader, so another overlay may use it.
//
// Memory: the rows that were changed. Rows that are put while a scan of their table runs may or may
// not be visited by it. Products cannot be changed: put_catalog() and delete_catalog() throw.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/ledger/ledger.hpp"

namespace sluice {

class Overlay : public LedgerTxn {
public:
    /// Requires: `below` outlives it and does not change.
    explicit Overlay(LedgerReader& below);

    /// Returns the orders that were written, each in its latest state.
    [[nodiscard]] const std::map<OrderKey, OrderState>& changed_orders() const noexcept {
        return orders_;
    }

    /// Visits the rows that were put into one table and not erased, by key.
    template <Described Row>
    void visit_put(const std::type_identity_t<Visitor<Row>>& visit) const {
        for (const auto& [key, row] : rows_[kTableNumber<Row>]) {
            if (row && !visit(row->view().template as<Row>())) {
                return;
            }
        }
    }
    /// Returns the groups that were posted, by entry.
    [[nodiscard]] const std::vector<JournalGroup>& posted() const noexcept { return journal_; }

    bool load_row(RowRef row) override;
    void scan_rows(RowView first, KeyRange range, const RowVisitor& visit) override;
    void put_row(RowView row) override;
    void erase_row(RowView row) override;

    bool load_order(const OrderKey& key, OrderState& state) override;
    void expect_orders(std::span<const OrderKey> keys) override { below_.expect_orders(keys); }
    bool has_event(const OrderKey& key, Topic topic, const EventDigest& digest) override;
    void visit_clicks(AccountNumber account, const Digest256& anon, const ProgramId& program,
                      Timestamp upto, const Visitor<Click>& visit) override;
    std::optional<CatalogKey> find_variant(AccountNumber account, ShopNumber shop,
                                           std::string_view variant_sku) override {
        return below_.find_variant(account, shop, variant_sku);
    }
    std::vector<CatalogKey> product_copies(AccountNumber account, ShopNumber shop,
                                           const ProductId& product) override {
        return below_.product_copies(account, shop, product);
    }
    std::optional<CatalogRecord> catalog(const CatalogKey& key) override {
        return below_.catalog(key);
    }

    const LedgerHead& head() const override { return head_; }
    ChainHead chain(AccountNumber account) override { return mutable_chain(account); }
    std::optional<Balance> balance(const BalanceKey& key) override;
    std::optional<JournalGroup> journal_group(std::string_view node,
                                              std::uint64_t first_entry) override;
    std::vector<JournalGroup> order_journal(const OrderState& state) override;

    void scan_shops(const Visitor<ShopRow>& visit) override;
    void scan_orders(AccountNumber account, ShopNumber shop,
                     const Visitor<OrderState>& visit) override;
    void scan_events(const OrderKey& key, const Visitor<EventTrace>& visit) override;
    void scan_journal(std::uint64_t from_entry, const Visitor<JournalGroup>& visit) override;
    void scan_balances_from(const BalanceKey& from, const Visitor<Balance>& visit) override;
    void scan_catalog(AccountNumber account, ShopNumber shop,
                      const Visitor<CatalogRecord>& visit) override {
        below_.scan_catalog(account, shop, visit);
    }
    void scan_creator_journal(AccountNumber account, const CreatorId& creator, Timestamp from,
                              Timestamp to, const Visitor<JournalGroup>& visit) override;
    void scan_account_journal(AccountNumber account, Timestamp from, Timestamp to,
                              const Visitor<JournalGroup>& visit) override;
    void scan_heads(const Visitor<LedgerHead>& visit) override;
    void scan_chains(const Visitor<NodeChain>& visit) override;

    LedgerHead& mutable_head() override { return head_; }
    ChainHead& mutable_chain(AccountNumber account) override;
    void put_order(const OrderState& state) override { orders_[state.key] = state; }
    void put_event(const OrderKey& key, const EventTrace& event) override {
        events_[key][event.seq] = event;
    }
    void append_journal(const JournalGroup& group) override { journal_.push_back(group); }
    void add_to_balance(const Balance& change) override;
    void put_catalog(const CatalogRecord& record, const CatalogRecord* old) override;
    void delete_catalog(const CatalogRecord& old) override;
    void commit() override;

private:
    /// Changed rows of one table by their sort keys; no value if the row was erased.
    using Rows = std::map<std::string, std::optional<AnyRow>>;
    using Events = std::map<SequenceNumber, EventTrace>;

    [[nodiscard]] std::vector<JournalGroup> own_groups(
        const std::function<bool(const JournalGroup&)>& wanted) const;

    LedgerReader& below_;
    std::array<Rows, kDescribedTables> rows_;
    LedgerHead head_;
    std::map<AccountNumber, ChainHead> chains_;
    std::map<OrderKey, OrderState> orders_;
    std::map<OrderKey, Events> events_;
    std::vector<JournalGroup> journal_;       ///< By entry.
    std::map<BalanceKey, Balance> balances_;  ///< Differences from the balances of `below_`.
};

}  // namespace sluice
