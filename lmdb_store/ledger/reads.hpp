// The reading half of the embedded ledger, for snapshots and for the writer alike. Internal to
// lmdb_store.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "core/ledger/paged_reads.hpp"
#include "lmdb_store/ledger/open_rows.hpp"
#include "lmdb_store/ledger/order_changes.hpp"
#include "lmdb_store/ledger/tables.hpp"
#include "lmdb_store/rows/order_value.hpp"
#include "lmdb_store/rows/row_keys.hpp"
#include "lmdb_store/rows/row_value.hpp"

namespace sluice::store {

/// Reads in the order that the interface promises, also where cut ids sort by their digests.
/// The class that derives from this one owns the transaction.
class Reads : public virtual LedgerReader, public PagedReads {
public:
    bool load_row(RowRef row) override;
    void scan_rows(RowView first, KeyRange range, const RowVisitor& visit) override;
    void scan_rows_back(RowView before, KeyRange range, const RowVisitor& visit) override;

    bool load_order(const OrderKey& key, OrderState& state) override;
    bool has_event(const OrderKey& key, Topic topic, const EventDigest& digest) override;
    void visit_clicks(AccountNumber account, const Digest256& anon, const ProgramId& program,
                      Timestamp upto, const Visitor<Click>& visit) override;
    std::optional<CatalogKey> find_variant(AccountNumber account, ShopNumber shop,
                                           std::string_view variant_sku) override;
    std::vector<CatalogKey> product_copies(AccountNumber account, ShopNumber shop,
                                           const ProductId& product) override;
    std::optional<CatalogRecord> catalog(const CatalogKey& key) override;

    const LedgerHead& head() const override { return node_.head; }
    ChainHead chain(AccountNumber account) override;
    std::optional<Balance> balance(const BalanceKey& key) override;
    std::optional<JournalGroup> journal_group(std::string_view node,
                                              std::uint64_t first_entry) override;
    std::vector<JournalGroup> order_journal(const OrderState& state) override;

    void scan_shops(const Visitor<ShopRow>& visit) override;
    void scan_orders(AccountNumber account, ShopNumber shop,
                     const Visitor<OrderState>& visit) override;
    void scan_orders_after(AccountNumber account, ShopNumber shop, const OrderId& after,
                           const Visitor<OrderState>& visit) override;
    std::vector<OrderNeighbours> neighbours(AccountNumber account,
                                            std::span<const ShopNumber> shops,
                                            const OrderId& id) override;
    std::vector<OrderKey> orders_beginning(AccountNumber account, std::span<const ShopNumber> shops,
                                           std::string_view beginning, std::size_t max) override;
    void scan_events(const OrderKey& key, const Visitor<EventTrace>& visit) override;
    void scan_journal(std::uint64_t from_entry, const Visitor<JournalGroup>& visit) override;
    void scan_chain(AccountNumber account, std::uint32_t node, std::uint64_t from_entry,
                    const Visitor<JournalGroup>& visit) override;
    void scan_balances_from(const BalanceKey& from, const Visitor<Balance>& visit) override;
    void scan_catalog(AccountNumber account, ShopNumber shop,
                      const Visitor<CatalogRecord>& visit) override;
    void scan_catalog_after(const CatalogKey& after, const Visitor<CatalogRecord>& visit) override;
    std::vector<JournalGroup> chain_before(AccountNumber account, std::uint32_t node,
                                           const JournalPlace& before, std::size_t max) override;
    void scan_creator_journal(AccountNumber account, const CreatorId& creator, Timestamp from,
                              Timestamp to, const Visitor<JournalGroup>& visit) override;
    void scan_account_journal(AccountNumber account, Timestamp from, Timestamp to,
                              const Visitor<JournalGroup>& visit) override;
    /// Sorts more than 16 MB in an unnamed file in the ledger's folder.
    std::unique_ptr<ClearedRows> cleared(AccountNumber account,
                                         std::span<const ClearedOf> programs) override;
    void scan_heads(const Visitor<LedgerHead>& visit) override;
    std::map<std::string, DeadCount> dead_by_shop(AccountNumber account, Timestamp from,
                                                  Timestamp to) override;
    void scan_chains(const Visitor<NodeChain>& visit) override;
    std::optional<AppliedBatch> latest_batch() override;

protected:
    explicit Reads(const RowAccess& rows) : rows_(rows) {}

    /// Called before a described row is loaded and before rows are scanned, so that the writer
    /// first writes the rows of that table that it keeps. Sums of add_row() wait for commit().
    virtual void settle(Table /*table*/) {}

    /// Reads the heads. A queue that has none has number 0.
    void load_head(std::string_view node);
    [[nodiscard]] LedgerKey key_of(RowView row, unsigned columns = ~0U) const {
        return row_key(row, node_.node, columns);
    }
    /// Reads the row as it is stored. Returns whether the key had to cut a text, which is then in
    /// the value.
    bool decode_row(std::string_view key, std::string_view value, RowRef row);
    /// Gives a stored row the columns that its order's change gives it.
    void follow_order(RowRef row);
    /// Returns this node's part.
    [[nodiscard]] Balance balance_part(const BalanceKey& key);
    /// Fills in the group of a row of the journal.
    void decode_group(std::string_view key, std::string_view value, JournalGroup& group);

private:
    /// Decodes the value of `key` into `row`, if the key exists.
    template <class Row>
    std::optional<Row> find(Table table, const LedgerKey& key, Row row);
    [[nodiscard]] std::optional<OrderId> order_before(AccountNumber account, ShopNumber shop,
                                                      const OrderId& id);
    [[nodiscard]] bool find_group(std::uint32_t node, std::uint64_t entry, JournalGroup& group);
    /// Visits the described rows at and behind the cursor's, or before it, that a scan visits.
    void visit_rows(RowCursor& cursor, RowView bound, KeyRange range, bool back,
                    const RowVisitor& visit);
    /// Visits the groups of a node from an entry on. Returns false if the visitor has seen enough.
    [[nodiscard]] bool visit_node(std::uint32_t node, std::uint64_t from_entry,
                                  const Visitor<JournalGroup>& visit);
    [[nodiscard]] bool visit_dated(const LedgerKey& creator, Timestamp from, Timestamp to,
                                   const Visitor<JournalGroup>& visit);
    [[nodiscard]] bool visit_date(const LedgerKey& date, const Visitor<JournalGroup>& visit);
    [[nodiscard]] bool visit_indexed(std::string_view key, const Visitor<JournalGroup>& visit);
    std::optional<CatalogKey> lowest_cut_product(RowCursor& cursor, CatalogKey found,
                                                 std::string_view prefix);

protected:
    RowAccess rows_;
    NodeHead node_;
    std::map<std::uint32_t, std::string> nodes_;  ///< UUIDs of all queues, by number.
    OrderRows order_rows_;
    OrderValue order_value_;
    RowValue row_value_;
    OpenRows open_rows_;
};

}  // namespace sluice::store
