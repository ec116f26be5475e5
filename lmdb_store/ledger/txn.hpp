// The writing half of the embedded ledger. Internal to lmdb_store.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>

#include "core/copy/row_sink.hpp"
#include "core/ledger/row_sums.hpp"
#include "lmdb_store/ledger/deferred_rows.hpp"
#include "lmdb_store/ledger/read_once.hpp"
#include "lmdb_store/ledger/reads.hpp"
#include "lmdb_store/rows/keys.hpp"

namespace sluice::store {

/// Called when the map was too small, so that the next transaction finds a larger one.
using MapIsFull = std::function<void()>;

/// A base class, so that the transaction exists before the reads that refer to it.
template <class Transaction>
struct TxnHolder {
    Transaction txn_;
};
struct WriteHolder : TxnHolder<WriteTxn> {
    KeptCursors cursors_{};
};

class EmbeddedTxn final : private WriteHolder, public Reads, public LedgerTxn {
public:
    /// Loads the head of `node`, which commit() creates if it is new. Requires: `txn` has begun.
    EmbeddedTxn(const Environment& env, const LedgerHandles& handles, WriteTxn txn,
                std::string_view node, MapIsFull map_is_full);

    LedgerHead& mutable_head() override { return node_.head; }
    ChainHead& mutable_chain(AccountNumber account) override;
    ChainHead chain(AccountNumber account) override;
    std::optional<Balance> balance(const BalanceKey& key) override;

    std::vector<CodeRow> code_owners(AccountNumber account, const Digest256& code) override;

    bool load_row(RowRef row) override;
    void put_row(RowView row) override;
    void erase_row(RowView row) override;
    void add_row(RowView change) override { sums_.add(change); }
    void put_order(const OrderState& state) override;
    void put_event(const OrderKey& key, const EventTrace& event) override;
    void append_journal(const JournalGroup& group) override;
    void add_to_balance(const Balance& change) override;
    void put_catalog(const CatalogRecord& record, const CatalogRecord* old) override;
    void delete_catalog(const CatalogRecord& old) override;

    void commit() override;

protected:
    void settle(Table table) override;

private:
    /// Unwritten balance changes, and the difference from the journal, which is zero at commit.
    struct Delta {
        AccountSums unwritten, unbalanced;
    };

    void adopt_node();
    void write(Table table, std::string_view key, std::string_view value);
    void write(Table table, const LedgerKey& key, std::string_view value) {
        write(table, key.view(), value);
    }
    void remove(Table table, std::string_view key);
    void remove(Table table, const LedgerKey& key) { remove(table, key.view()); }
    [[noreturn]] void failed(int rc, std::string_view doing, Table table);
    [[nodiscard]] bool load_membership(Membership& row);
    void forget_read(const DescribedTable& table);
    void forget_digest(const OrderKey& order, const EventTrace& event);
    [[nodiscard]] Delta& delta_of(const BalanceKey& key);
    void count_unbalanced(const JournalGroup& group);
    void put_deferred(Table table, const LedgerKey& key, std::string_view value);
    void flush_deferred();
    void flush_balances();
    void flush_sums();
    void flush_chains();
    void flush_head();
    void check_sums() const;
    void delete_variants(const CatalogRecord& old, const std::set<std::string_view>& kept);

    MapIsFull map_is_full_;
    ReadOnce<std::vector<CodeRow>> code_owners_;
    ReadOnce<std::optional<Membership>> memberships_;
    RowSums sums_;
    DeferredRows deferred_;
    std::map<std::uint32_t, ChainHead> chains_;  ///< The ones that were read, by account.
    std::map<BalanceKey, Delta> balances_;
    std::pair<const BalanceKey, Delta>* last_balance_ = nullptr;  ///< In `balances_`.
    std::uint64_t next_entry_ = 1;  ///< Lower numbers are written already.
};

class EmbeddedSnapshot : private TxnHolder<ReadTxn>, public Reads {
public:
    EmbeddedSnapshot(const Environment& env, const LedgerHandles& handles, ReadTxn txn,
                     std::string_view node)
        : TxnHolder{std::move(txn)}, Reads(RowAccess(env, handles, txn_)) {
        load_head(node);
    }
};

/// One state of the ledger, of all nodes.
class EmbeddedWhole final : private TxnHolder<ReadTxn>, public Reads, public WholeReader {
public:
    EmbeddedWhole(const Environment& env, const LedgerHandles& handles, ReadTxn txn)
        : TxnHolder{std::move(txn)}, Reads(RowAccess(env, handles, txn_)) {
        load_head({});
    }

    void turn_to(std::string_view node) override;
    void scan_balance_parts(const Visitor<NodeBalance>& visit) override;
};

/// The ledger's canonical dump, and the check of its tables.
class LedgerRows;

[[nodiscard]] std::unique_ptr<LedgerRows> make_rows(const Environment& env,
                                                    const LedgerHandles& handles, ReadTxn txn,
                                                    std::string_view node);

[[nodiscard]] std::vector<std::string> verify_ledger(const Environment& env,
                                                     const LedgerHandles& handles, ReadTxn txn,
                                                     std::string_view node,
                                                     std::size_t problems_max);

}  // namespace sluice::store
