// The reading half of the embedded ledger, for snapshots and for the writer alike. Internal to this
// room.
#pragma once

#include <optional>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "lmdb_store/ledger/row_reads.hpp"

namespace sluice::store {

/// In the order that the interface promises, also where cut ids sort by their digests.
class Reads : public ForEachTable<ReadsTable, RowReads> {
public:
    using ForEachTable<ReadsTable, RowReads>::ForEachTable;

    bool load_order(const OrderKey& key, OrderState& state) override;
    bool has_event(const OrderKey& key, Topic topic, const EventDigest& digest) override;
    void visit_touches(AccountNumber account, const Digest256& anon, const ProgramId& program,
                       Timestamp upto, const Visitor<Touch>& visit) override;
    std::optional<CatalogKey> find_variant(AccountNumber account, ShopNumber shop,
                                           std::string_view variant_sku) override;
    std::vector<CatalogKey> product_copies(AccountNumber account, ShopNumber shop,
                                           const ProductId& product) override;
    std::optional<CatalogRecord> catalog(const CatalogKey& key) override;

    const LedgerHead& head() const override { return node_.head; }
    ChainHead chain(AccountNumber account) override;
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
    /// Beyond 16 MB they are sorted in a file of the ledger's folder that has no name.
    std::unique_ptr<MaturedRows> matured(AccountNumber account,
                                         std::span<const MaturedOf> programs) override;
    void scan_heads(const Visitor<LedgerHead>& visit) override;
    void scan_chains(const Visitor<NodeChain>& visit) override;

protected:
    /// Of this node.
    [[nodiscard]] Balance balance_part(const BalanceKey& key);
    /// Fills in the group of a row of the journal.
    void decode_group(std::string_view key, std::string_view value, JournalGroup& group);

private:
    /// Decodes the value of `key`, if there is one, into `row`.
    template <class Row>
    std::optional<Row> find(Table table, const LedgerKey& key, Row row);
    [[nodiscard]] bool find_group(std::uint32_t node, std::uint64_t entry, JournalGroup& group);
    [[nodiscard]] bool is_of_credit(const JournalGroup& group);
    [[nodiscard]] bool visit_dated(const LedgerKey& creator, Timestamp from, Timestamp to,
                                   const Visitor<JournalGroup>& visit);
    [[nodiscard]] bool visit_date(const LedgerKey& date, const Visitor<JournalGroup>& visit);
    [[nodiscard]] bool visit_indexed(std::string_view key, const Visitor<JournalGroup>& visit);
    std::optional<CatalogKey> lowest_cut_product(RowCursor& cursor, CatalogKey found,
                                                 std::string_view prefix);
};

}  // namespace sluice::store
