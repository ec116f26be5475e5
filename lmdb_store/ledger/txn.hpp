// The writing half of the embedded ledger. Internal to lmdb_store.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "core/copy/row_sink.hpp"
#include "core/ledger/row_sums.hpp"
#include "lmdb_store/ledger/deferred_rows.hpp"
#include "lmdb_store/ledger/reads.hpp"
#include "lmdb_store/rows/keys.hpp"

namespace sluice::store {

/// Called when the map was too small, so that the next transaction finds a larger one.
using MapIsFull = std::function<void()>;

/// Rows that a transaction reads for one order after the other. LMDB has one writer at a time, so a
/// value stays true until the transaction itself writes to the table.
/// Memory: kValuesMax values.
template <class Value>
class ReadOnce {
public:
    /// Returns the value of `key`, which `read` gives at the first call. Valid until the next call.
    template <class Read>
    [[nodiscard]] const Value& get(std::string_view key, Read&& read) {
        if (last_ != nullptr && last_->first == key) {
            return last_->second;
        }
        auto known = values_.find(key);
        if (known == values_.end()) {
            Value value = read();
            if (values_.size() >= kValuesMax) {
                forget();
            }
            known = values_.emplace(std::string(key), std::move(value)).first;
        }
        last_ = &*known;
        return last_->second;
    }
    /// Discards the cached values. Call this when the transaction writes a row of the table.
    void forget() noexcept {
        last_ = nullptr;
        values_.clear();
    }

private:
    static constexpr std::size_t kValuesMax = 4096;

    struct Hash : std::hash<std::string_view> {
        using is_transparent = void;
    };
    std::unordered_map<std::string, Value, Hash, std::equal_to<>> values_;
    const std::pair<const std::string, Value>* last_ =
        nullptr;  ///< The last value returned, which is often wanted again.
};

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
    EmbeddedTxn(const LedgerTables& tables, WriteTxn txn, std::string_view node,
                MapIsFull map_is_full);

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
    void put_updated(const OrderState& state) override;
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
    [[nodiscard]] bool put_change(std::string_view key, std::optional<std::uint64_t> known,
                                  std::string_view next, const OrderState& state);
    void erase_change(std::string_view key, std::optional<std::uint64_t> number,
                      const OrderState& state);
    void hold_open(const OpenAmount& row, std::string_view key, std::string_view value);
    void write_held();
    void leave_held(const OrderKey& order);
    void write_open(const OrderState& state);
    [[nodiscard]] bool was_changed_long_ago(const OrderState& state) const;
    [[nodiscard]] std::uint64_t next_change();
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
    HeldOpenRows held_;
    std::map<std::uint32_t, ChainHead> chains_;  ///< The ones that were read, by account.
    std::map<BalanceKey, Delta> balances_;
    std::pair<const BalanceKey, Delta>* last_balance_ = nullptr;  ///< In `balances_`.
    std::uint64_t next_entry_ = 1;  ///< Lower numbers are written already.
    ChangeValue change_value_;
    OrderState base_;  ///< Keeps its buffers.
};

class EmbeddedSnapshot : private TxnHolder<ReadTxn>, public Reads {
public:
    EmbeddedSnapshot(const LedgerTables& tables, ReadTxn txn, std::string_view node)
        : TxnHolder{std::move(txn)}, Reads(RowAccess(tables, txn_)) {
        load_head(node);
    }
};

/// One state of the ledger, of all nodes.
class EmbeddedWhole final : private TxnHolder<ReadTxn>, public Reads, public WholeReader {
public:
    EmbeddedWhole(const LedgerTables& tables, ReadTxn txn)
        : TxnHolder{std::move(txn)}, Reads(RowAccess(tables, txn_)) {
        load_head({});
    }

    void turn_to(std::string_view node) override;
    void scan_balance_parts(const Visitor<NodeBalance>& visit) override;
};

/// The ledger's canonical dump, and the check of its tables.
class LedgerRows;

[[nodiscard]] std::unique_ptr<LedgerRows> make_rows(const LedgerTables& tables, ReadTxn txn,
                                                    std::string_view node);

[[nodiscard]] std::vector<std::string> verify_ledger(const LedgerTables& tables, ReadTxn txn,
                                                     std::string_view node,
                                                     std::size_t problems_max);

}  // namespace sluice::store
