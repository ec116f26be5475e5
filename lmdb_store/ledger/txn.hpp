// The writing half of the embedded ledger. Internal to this room.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>

#include "lmdb_store/ledger/read_once.hpp"
#include "lmdb_store/ledger/reads.hpp"
#include "lmdb_store/rows/keys.hpp"

namespace sluice::store {

/// Told when the map was too small, so that the next transaction finds a larger one.
using MapIsFull = std::function<void()>;

/// A base, so that the transaction is there before the reads that refer to it.
template <class Transaction>
struct TxnHolder {
    Transaction txn_;
};
struct WriteHolder : TxnHolder<WriteTxn> {
    KeptCursors cursors_{};
};

/// Writes rows; the tables that core/ledger/tables.hpp describes among them.
class RowWrites : private WriteHolder, public Reads, public LedgerTxn {
protected:
    RowWrites(const Environment& env, const LedgerHandles& handles, WriteTxn txn,
              MapIsFull map_is_full)
        : WriteHolder{{std::move(txn)}},
          Reads(RowAccess(env, handles, txn_, &cursors_)),
          map_is_full_(std::move(map_is_full)) {}

    void write(Table table, std::string_view key, std::string_view value);
    void write(Table table, const LedgerKey& key, std::string_view value) {
        write(table, key.view(), value);
    }
    void remove(Table table, const LedgerKey& key);
    template <class Row>
    void put_row(const Row& row) {
        CutTexts cut;
        const LedgerKey key = row_key(row, cut, node_.node);
        write(table_of<Row>(), key, row_value_.encode(key.view(), cut, row));
    }
    template <class Row>
    void remove_row(const Row& row) {
        remove(table_of<Row>(), key_of(row));
    }
    [[noreturn]] void failed(int rc, std::string_view doing, Table table);
    void commit_rows();

private:
    MapIsFull map_is_full_;
};

template <class Row, class Base>
class WritesTable : public Base {
public:
    using Base::Base;
    using Base::erase;
    using Base::put;
    void put(const Row& row) override { this->put_row(row); }
    void erase(const Row& row) override { this->remove_row(row); }
};

using TableWrites = ForEachTable<WritesTable, RowWrites>;

class EmbeddedTxn final : public TableWrites {
public:
    /// `txn` has begun. Loads the head of `node`, which is made with commit() if it is new.
    EmbeddedTxn(const Environment& env, const LedgerHandles& handles, WriteTxn txn,
                std::string_view node, MapIsFull map_is_full);

    LedgerHead& mutable_head() override { return node_.head; }
    ChainHead& mutable_chain(AccountNumber account) override;
    ChainHead chain(AccountNumber account) override;
    std::optional<Balance> balance(const BalanceKey& key) override;
    void scan_balances(const Visitor<Balance>& visit) override;
    void scan_heads(const Visitor<LedgerHead>& visit) override;
    void scan_chains(const Visitor<NodeChain>& visit) override;

    std::vector<CodeRow> code_owners(AccountNumber account, const Digest256& code) override;

    using TableWrites::erase;
    using TableWrites::load;
    using TableWrites::put;
    bool load(Membership& row) override;
    void put(const ShopRow& row) override;
    void put(const CodeRow& row) override;
    void put(const Membership& row) override;
    void erase(const CodeRow& row) override;
    void erase(const Membership& row) override;
    void put_order(const OrderState& state) override;
    void put_event(const OrderKey& key, const EventTrace& event) override;
    void append_journal(const JournalGroup& group) override;
    void add_to_balance(const Balance& change) override;
    void put_catalog(const CatalogRecord& record, const CatalogRecord* old) override;
    void delete_catalog(const CatalogRecord& old) override;

    void commit() override;

private:
    /// What is not written yet, and by how much journal and balance differ: at commit, not at all.
    struct Delta {
        Decimal owed, in_payout, paid;
        Decimal unbalanced_owed, unbalanced_in_payout, unbalanced_paid;
    };

    void adopt_node();
    void forget_digest(const OrderKey& order, const EventTrace& event);
    [[nodiscard]] Delta& delta_of(const BalanceKey& key);
    void count_unbalanced(const JournalGroup& group);
    void flush_balances();
    void flush_chains();
    void flush_head();
    void check_sums() const;
    void delete_variants(const CatalogRecord& old, const std::set<std::string_view>& kept);

    ReadOnce<std::vector<CodeRow>> code_owners_;
    ReadOnce<std::optional<Membership>> memberships_;
    std::map<std::uint32_t, ChainHead> chains_;  ///< By account: those that were asked for.
    std::map<BalanceKey, Delta> balances_;
    std::pair<const BalanceKey, Delta>* last_balance_ = nullptr;  ///< Of `balances_`.
    std::uint64_t next_entry_ = 1;  ///< What is below is written already.
};

class EmbeddedSnapshot : private TxnHolder<ReadTxn>, public Reads {
public:
    EmbeddedSnapshot(const Environment& env, const LedgerHandles& handles, ReadTxn txn,
                     std::string_view node)
        : TxnHolder{std::move(txn)}, Reads(RowAccess(env, handles, txn_)) {
        load_head(node);
    }
};

}  // namespace sluice::store
