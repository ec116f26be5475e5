// The writing half of the PostgreSQL ledger: caches in front of the server, and rows that are
// written together (kept_rows.hpp has those of the described tables). Internal to pg_store.
//
// Locks, always in this order, so that no two nodes wait for each other:
//   1. the node's head, so that another process of the same node has ended before this one reads
//   2. the advisory lock of writers: shared for events and products, exclusive for commands, clicks
//      and the work they leave, so that no event of another node misses a creator, code or click
//      that is imported at the same time; exclusive also for events of accounts whose programs have
//      tiers or ask for new customers
//   3. orders and products of the batch, by key
//   4. the lock of the order of batches, when all that the batch writes is written, until its end:
//      so batches are numbered in the order in which those that conflict took effect (K9)
// If the ledger is distributed over Citus nodes, an acknowledged commit may be unfinished on a
// Citus node that failed. Its writes are invisible there until it is finished, but its rows stay
// locked. So under the advisory lock each batch writes its node's head, and the exclusive holder
// writes all heads: that waits on every Citus node for exactly the commits that the lock would have
// kept out. The node's own lock is an advisory one there, because a row on one Citus node says
// nothing about the others. New rows are not locked: if two nodes make the same row, the second
// fails and is tried again.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "core/ledger/list_rows.hpp"
#include "pg_store/ledger/kept_rows.hpp"
#include "pg_store/ledger/read_ahead.hpp"

namespace sluice::pg {

/// Called when a commit begins (with the checkpoint that it sets), when it was acknowledged, and
/// when a transaction has read its checkpoint.
struct CommitEvents {
    std::function<void(SequenceNumber)> begins;
    std::function<void()> acknowledged;
    std::function<void(SequenceNumber)> checkpoint;
};

class PgTxn final : public KeptTables {
public:
    /// Begins a transaction, locks the head of `node` and reads it.
    /// @param ahead  Finds the rows that inputs need. It must outlive the transaction.
    PgTxn(BorrowedConnection connection, std::string_view node, CommitEvents events,
          ReadAhead& ahead);

    std::size_t expect(std::span<const Input> inputs, bool holds_some) override;

    bool load_order(const OrderKey& key, OrderState& state) override;
    void expect_orders(std::span<const OrderKey> keys) override;
    bool load_row(RowRef row) override;
    void scan_rows(RowView first, KeyRange range, const RowVisitor& visit) override;
    void put_row(RowView row) override;
    void erase_row(RowView row) override;
    std::vector<CodeRow> code_owners(AccountNumber account, const Digest256& code) override;
    void visit_clicks(AccountNumber account, const Digest256& anon, const ProgramId& program,
                      Timestamp upto, const Visitor<Click>& visit) override;
    std::optional<CatalogKey> find_variant(AccountNumber account, ShopNumber shop,
                                           std::string_view variant_sku) override;
    std::vector<CatalogKey> product_copies(AccountNumber account, ShopNumber shop,
                                           const ProductId& product) override;
    std::optional<CatalogRecord> catalog(const CatalogKey& key) override;
    ChainHead chain(AccountNumber account) override { return mutable_chain(account); }
    void scan_chains(const Visitor<NodeChain>& visit) override;
    void scan_heads(const Visitor<LedgerHead>& visit) override;

    LedgerHead& mutable_head() override { return head_; }
    ChainHead& mutable_chain(AccountNumber account) override;
    void put_order(const OrderState& state) override;
    void put_allocated(const OrderState& state) override;
    void put_event(const OrderKey& key, const EventTrace& event) override;
    void append_journal(const JournalGroup& group) override;
    void add_to_balance(const Balance& change) override;
    void put_catalog(const CatalogRecord& record, const CatalogRecord* old) override;
    void delete_catalog(const CatalogRecord& old) override;

    void note_batch(const BatchStep& step) override { step_ = step; }
    void commit() override;

protected:
    void begin_reading() override;
    void settle() override;
    [[nodiscard]] bool is_of_new_order(RowView row) const override;

private:
    enum class WriterLock : std::uint8_t { kNone, kShared, kExclusive };
    /// Unwritten changes, all changes that were added, and the same sums from the journal, which
    /// must be equal at commit.
    struct Delta {
        AccountSums unwritten, added, journal;
        bool changed = false;
    };
    using ChangedOrder = std::pair<const OrderKey*, CachedOrder*>;
    using VariantKey =
        std::tuple<AccountNumber, ShopNumber, std::string, std::string, std::string, std::string>;
    using AnonKey = std::pair<AccountNumber, Digest256>;
    using Copies = std::map<std::pair<std::string, std::string>, CatalogRecord>;

    // txn.cpp
    void send_lock_head();
    void send_heads(WriterLock passed);
    void take_head(const Rows& rows);
    void adopt_head();
    void take_lock(WriterLock wanted);
    /// Ends the pipeline. Throws kIo if a lock in it is not given in time.
    void sync_lock();
    void send_lock(WriterLock wanted);
    void read_shared(const Rows& rows);
    void check_sums() const;
    void send_head();
    void send_batch_lock();
    void send_batch();
    // txn_ahead.cpp, txn_products.cpp
    void fetch(const UpcomingKeys& keys);
    void serialize(const UpcomingKeys& keys);
    /// Returns a handler that keeps the rows of an answer. If one of them is damaged, it keeps none
    /// of those that were asked for.
    template <Described Row>
    [[nodiscard]] Connection::Handler keep_asked(std::vector<Row> asked);
    void fetch_refunds(const UpcomingKeys& keys);
    void fetch_deletions(const UpcomingKeys& keys);
    void fetch_sources(std::vector<WaitKey> keys);
    void know_member(const ProgramId& program, const CreatorId& creator, AccountNumber account,
                     RowReader& row);
    void fetch_codes(const std::vector<WaitKey>& keys);
    void fetch_clicks(const std::vector<WaitKey>& keys);
    void fetch_waiting(const std::vector<WaitKey>& keys);
    void fetch_links(const UpcomingKeys& keys);
    void fetch_chains(const UpcomingKeys& keys);
    void fetch_products(const std::vector<ShopText>& keys);
    void fetch_variants(const std::vector<ShopText>& skus);
    CachedOrder& cached(const OrderKey& key);
    Copies& copies(AccountNumber account, ShopNumber shop, const ProductId& product);
    void scan_work(const Work& first, KeyRange range, const Visitor<Work>& visit);
    void scan_clicks(const ClickByReceipt& first, KeyRange range,
                     const Visitor<ClickByReceipt>& visit);
    [[nodiscard]] bool is_quiet(RowView first, KeyRange range) const;
    // txn_writes.cpp
    void put_shop(const ShopRow& row);
    void keep_click(const Click& click, bool exists);
    void keep_first_click(const ClickByReceipt& click, bool exists);
    void forget_cached(RowView row, bool exists);
    // txn_flush.cpp
    void flush();
    void stage(bool is_last);
    void send_staged();
    void pump_now_and_then();
    void flush_orders();
    void update_order(const OrderKey& key, CachedOrder& order);
    void replace_orders(const std::vector<ChangedOrder>& changed);
    void copy_orders(const std::vector<ChangedOrder>& added);
    [[nodiscard]] std::string encode_new(const std::vector<ChangedOrder>& added);
    void update_allocations(const std::vector<ChangedOrder>& changed);
    void flush_journal();
    void flush_balances();
    void flush_variants();
    void flush_chains();

    CommitEvents events_;
    ReadAhead& ahead_;
    SequenceNumber checkpoint_;  ///< Before this transaction.
    WriterLock lock_ = WriterLock::kNone;
    /// The programs' revision, which all nodes share, before this transaction.
    std::uint64_t revision_before_ = 0;
    std::optional<BatchStep> step_;  ///< To be noted by commit().

    CachedOrders orders_;
    std::map<AnonKey, std::vector<CodeRow>> codes_;
    std::map<AnonKey, std::vector<Click>> clicks_;  ///< All clicks of an id, the latest first.
    std::set<AnonKey> crowded_;                     ///< Ids with too many clicks to keep.
    /// Devices of clicks that were looked up, and those of them that no order waits for.
    std::set<WaitKey> asked_waiting_, quiet_;
    /// The account's first row, or no value if it has none.
    std::map<AccountNumber, std::optional<ClickByReceipt>> first_clicks_;
    std::optional<std::vector<LedgerHead>> heads_;
    std::map<ShopText, std::optional<CatalogKey>> variants_;
    std::map<ShopText, Copies> products_;
    std::map<std::uint32_t, ChainHead> chains_;
    std::optional<std::optional<Work>> first_work_;

    RowWriter journal_;
    std::vector<StagedRows> staged_;  ///< Encoded, and not sent yet.
    unsigned changes_count_ = 0;      ///< Since the transaction began, to pump now and then.
    std::map<BalanceKey, Delta> balances_;
    std::map<VariantKey, bool> variant_rows_;  ///< False if the row is deleted.
};

}  // namespace sluice::pg
