// The writing half of the embedded ledger. Internal to this room.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>

#include "lmdb_store/ledger/keys.hpp"
#include "lmdb_store/ledger/reads.hpp"

namespace sluice::store {

/// Told when the map was too small, so that the next transaction finds a larger one.
using MapIsFull = std::function<void()>;

/// A base, so that the transaction is there before the reads that refer to it.
template <class Transaction>
struct TxnHolder {
    Transaction txn_;
};

class EmbeddedTxn final : private TxnHolder<WriteTxn>, public LedgerReads<LedgerTxn> {
public:
    /// `txn` has begun. Loads the head of `node`, which is made with commit() if it is new.
    EmbeddedTxn(const Environment& env, const LedgerHandles& handles, WriteTxn txn,
                std::string_view node, MapIsFull map_is_full);

    void prefetch(const BatchKeys&) override {}
    void prefetch_skus(std::span<const BatchKeys::ShopText>) override {}
    bool wants_prefetch() const noexcept override { return false; }

    LedgerHead& mutable_head() override { return node_.head; }
    ChainHead& mutable_chain(AccountNumber account) override;
    ChainHead chain(AccountNumber account) override;
    std::optional<Balance> balance(const BalanceKey& key) override;
    void scan_balances(const Visitor<Balance>& visit) override;

    void put_shop(const ShopRow& row) override;
    void put_order(const OrderState& state) override;
    void put_event(const OrderKey& key, const EventTrace& event) override;
    void put_refund_owner(AccountNumber account, ShopNumber shop, std::string_view refund_id,
                          const RefundOwner& owner) override;
    void put_anomaly(const Anomaly& anomaly) override;
    void append_journal(const JournalGroup& group) override;
    void add_to_balance(const BalanceKey& key, const Decimal& total, const Decimal& paid) override;
    void put_open(const OpenAmount& row) override;
    void change_open(const OpenAmount&) override {}  // the order's value says how much
    void delete_open(const OpenAmount& row) override;
    void put_waiting(const WaitKey& key, const OrderKey& order) override;
    void delete_waiting(const WaitKey& key, const OrderKey& order) override;
    void put_code(const CodeRow& row) override;
    void delete_code(const CodeRow& row) override;
    void put_membership(const Membership& row) override;
    void put_touch(const Touch& touch) override;
    void put_program(const ProgramRow& row) override;
    void put_catalog(const CatalogRecord& record, const CatalogRecord* old) override;
    void delete_catalog(const CatalogRecord& old) override;
    void put_payout(const Payout& payout) override;
    void put_command(const CommandRow& row) override;
    void put_dead_letter(const DeadLetter& letter) override;
    void delete_dead_letter(SequenceNumber seq) override;
    void put_work(const Work& work) override;
    void delete_work(std::uint64_t number) override;

    void commit() override;

private:
    /// What is not written yet, and by how much journal and balance differ: at commit, not at all.
    struct Delta {
        Decimal total, paid;
        Decimal unbalanced;
    };

    void put(Table table, std::string_view key, std::string_view value, unsigned flags = 0);
    void put(Table table, const LedgerKey& key, std::string_view value) {
        put(table, key.view(), value);
    }
    void remove(Table table, const LedgerKey& key);
    [[nodiscard]] bool disk_is_full() const;
    [[noreturn]] void failed(int rc, std::string_view doing, Table table);
    void adopt_node(std::string_view node);
    void flush_balances();
    void flush_chains();
    void flush_head();
    void check_sums() const;
    void delete_variants(const CatalogRecord& old, const std::set<std::string_view>& kept);

    MapIsFull map_is_full_;
    std::map<std::uint32_t, ChainHead> chains_;  ///< By account: those that were asked for.
    std::map<BalanceKey, Delta> balances_;
};

class EmbeddedSnapshot : private TxnHolder<ReadTxn>, public LedgerReads<LedgerReader> {
public:
    EmbeddedSnapshot(const Environment& env, const LedgerHandles& handles, ReadTxn txn,
                     std::string_view node)
        : TxnHolder{std::move(txn)}, LedgerReads(RowAccess(env, handles, txn_)) {
        load_head(node);
    }
};

}  // namespace sluice::store
