// The reading half of the PostgreSQL ledger, for snapshots and for the writer alike. Internal to
// pg_store.
//
// Everything here asks the server. The writer puts its caches in front.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "core/ledger/paged_reads.hpp"
#include "core/values/lookup.hpp"
#include "pg_store/connection/connection.hpp"
#include "pg_store/rows/described.hpp"
#include "pg_store/rows/rows.hpp"

namespace sluice::pg {

/// The connection of a transaction, which goes back to the ledger when the transaction ends.
using BorrowedConnection = std::unique_ptr<Connection, std::function<void(Connection*)>>;

/// A base class, so that the connection exists before the reads that refer to it.
struct ConnectionHolder {
    BorrowedConnection borrowed_;
};

struct OrderHash {
    std::size_t operator()(const OrderKey& key) const noexcept {
        return std::hash<OrderId>{}(key.order_id) * 31 + key.shop.value;
    }
};

/// Returns the statement with this text, which is kept for ever.
[[nodiscard]] Statement kept_statement(const std::string& text);
/// Returns the statement `SELECT columns FROM sluice_ledger.rest`, which is kept for ever.
[[nodiscard]] Statement select_statement(const std::string& columns, const std::string& rest);

/// Returns what `read` makes of the first row, or no value.
template <class Read>
[[nodiscard]] auto first(const Rows& rows, Read read)
    -> std::optional<std::invoke_result_t<Read, RowReader&>> {
    if (rows.empty()) {
        return std::nullopt;
    }
    RowReader row = rows.row(0);
    return read(row);
}
/// Returns what `read` makes of each row.
template <class Read>
[[nodiscard]] auto all(const Rows& rows, Read read) {
    return mapped(rows, [read](RowReader row) { return read(row); });
}

/// Visits the rows of a cursor, which are fetched slice by slice, until `visit` returns false.
void visit_cursor(Connection& connection, const std::string& name, int rows_at_once,
                  const std::function<bool(RowReader&)>& visit);

/// An order that was read together with others.
struct CachedOrder {
    OrderState state;
    bool stored = false;  ///< It is in the table, with `revision`.
    bool exists = false;
    bool is_new = true;           ///< It was not in the table when this transaction read it.
    bool changed = false;         ///< Not written yet.
    bool only_allocated = false;  ///< Only put_allocated() changed it since it was written.
    std::uint64_t revision = 0;
    std::exception_ptr damage;  ///< It could not be read.

    /// Copies the order if it exists. Throws if it could not be read.
    [[nodiscard]] bool load(OrderState& to) const {
        if (damage) {
            std::rethrow_exception(damage);
        }
        if (exists) {
            to = state;
        }
        return exists;
    }
};
using CachedOrders = std::unordered_map<OrderKey, CachedOrder, OrderHash>;

class Reads : public virtual LedgerReader, public PagedReads {
public:
    bool load_row(RowRef row) override;
    bool load_rows(std::span<const RowRef> rows, std::vector<bool>& found) override;
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

    const LedgerHead& head() const override { return head_; }
    ChainHead chain(AccountNumber account) override;
    std::optional<Balance> balance(const BalanceKey& key) override;
    void expect_journals(std::span<const OrderKey> keys) override;
    std::optional<JournalGroup> journal_group(std::string_view node,
                                              std::uint64_t first_entry) override;
    std::vector<JournalGroup> order_journal(const OrderState& state) override;

    void scan_shops(const Visitor<ShopRow>& visit) override;
    void scan_orders(AccountNumber account, ShopNumber shop,
                     const Visitor<OrderState>& visit) override;
    void scan_orders_after(AccountNumber account, ShopNumber shop, const OrderId& after,
                           const Visitor<OrderState>& visit) override;
    bool is_of_standby() override;
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
    /// Sorted by the server.
    std::unique_ptr<ClearedRows> cleared(AccountNumber account,
                                         std::span<const ClearedOf> programs) override;
    void scan_heads(const Visitor<LedgerHead>& visit) override;
    void scan_chains(const Visitor<NodeChain>& visit) override;
    std::optional<AppliedBatch> latest_batch() override;
    std::map<std::string, DeadCount> dead_by_shop(AccountNumber account, Timestamp from,
                                                  Timestamp to) override;

protected:
    explicit Reads(Connection& connection) : connection_(connection) {}

    [[nodiscard]] static const Statement& latest_batch_statement();

    /// Queues the reads of a node's head and of the programs' revision, which all nodes share.
    void send_head_reads(std::string_view node);
    /// Queues the read of the orders that `orders` does not have yet.
    /// @param locks  Lock their rows.
    void fetch_orders(std::span<const OrderKey> keys, bool locks, CachedOrders& orders);
    /// Queues a statement over many rows, unless there are none.
    void send_rows(const Statement& statement, const RowArrays& rows) {
        if (!rows.empty()) {
            connection_.send(statement, rows.parameters());
        }
    }

    /// Called before one row is read that the writer has not changed.
    virtual void begin_reading() {}
    /// Called before rows are read, so that the writer first writes the rows that it keeps.
    virtual void settle() {}
    [[nodiscard]] Rows rows(const Statement& statement, const RowWriter& parameters) {
        settle();
        return connection_.query(statement, parameters);
    }
    /// Forgets the expected journal of an order to which `group` is added.
    void forget_journal(const JournalGroup& group) {
        if (!journals_.empty()) {
            journals_.erase({group.account, group.shop, group.order_id});
        }
    }

    /// Visits rows in bounded memory, through a cursor. `visit` may run other statements.
    void scan_sql(const std::string& sql, const RowWriter& parameters,
                  const std::function<bool(RowReader&)>& visit, int rows_at_once = 500);

    Connection& connection_;
    LedgerHead head_;  ///< Its number is 0 if the node is new.

private:
    /// Scans the page `begin` of `range`, then the pages `next` of `rest`.
    void scan_pages(RowView first, KeyRange range, TableSql::Page begin, KeyRange rest,
                    TableSql::Page next, const RowVisitor& visit);

    unsigned cursors_count_ = 0;
    std::unordered_map<OrderKey, std::vector<JournalGroup>, OrderHash> journals_;  ///< Expected.
};

}  // namespace sluice::pg
