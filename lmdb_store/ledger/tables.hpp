// The embedded ledger's environment on disk. Internal to lmdb_store; docs/record-format.md has the
// values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "core/values/lookup.hpp"
#include "lmdb_store/environment/environment.hpp"

namespace sluice::store {

inline constexpr std::uint32_t kLedgerFormat = 13;

/// Tables with shapes of their own; the described ones (core/ledger/table.hpp) follow.
enum class Table : std::uint8_t {
    kHeads,           // queue UUID -> head
    kChains,          // node, account -> chain
    kShopIds,         // shop id, 0, shop number
    kOrders,          // account, shop, order -> order
    kEvents,          // order, 0, seq, node -> event
    kEventDigests,    // order, 0, topic, digest
    kJournal,         // node, entry -> group
    kCreatorJournal,  // account, creator, 0, accounting date, node, entry
    kBalances,        // account, program, 0, creator, 0, currency, node -> part of the balance
    kCatalog,         // account, shop, product, 0, language, country -> record
    kVariants,        // account, shop, variant sku, 0, language, country, product -> cut product
    kChangedOrders,   // beginning of the SHA-256 of an order's key -> number of its change
    kOrderChanges,    // number -> change of an order's row
};
inline constexpr std::array<const char*, 13> kOwnTables = {
    "heads",    "chains",         "shop_ids",        "orders",   "events",
    "digests",  "journal",        "creator_journal", "balances", "catalog",
    "variants", "changed_orders", "order_changes"};
static_assert(kOwnTables.size() == static_cast<std::size_t>(Table::kOrderChanges) + 1);
/// Returns whether the table has no rows of its own for a reader, because rows of orders include
/// what it has.
[[nodiscard]] constexpr bool is_part_of_orders(Table table) noexcept {
    return table == Table::kChangedOrders || table == Table::kOrderChanges;
}

inline constexpr std::size_t kLedgerTables = kOwnTables.size() + kDescribedTables;
/// Returns the names of all tables, in the order of `Table`.
[[nodiscard]] const std::array<const char*, kLedgerTables>& ledger_tables();
/// Returns the tables that have rows of their own for a reader, in the order of their names.
[[nodiscard]] std::vector<Table> tables_by_name();
/// Returns the table that holds the described rows.
[[nodiscard]] inline Table stored_in(const DescribedTable& table) noexcept {
    return static_cast<Table>(kOwnTables.size() + table.number);
}

using LedgerHandles = std::array<MDB_dbi, kLedgerTables>;

[[nodiscard]] inline const char* name_of(Table table) noexcept {
    return ledger_tables()[static_cast<std::size_t>(table)];
}

/// Creates the tables in a new environment. Returns LMDB's code.
[[nodiscard]] int create_ledger_tables(MDB_txn* txn);

/// An open ledger: its environment and its tables.
struct LedgerTables {
    std::shared_ptr<Environment> env;
    LedgerHandles handles{};

    /// Throws LedgerFailure unless LMDB's code is 0.
    void check(int rc, std::string_view doing) const;
    [[nodiscard]] ReadTxn begin_reading() const;
    /// Doubles the map when three quarters of it are used, or if it is full or below its first
    /// size. Requires: no transaction of this thread.
    void make_room(std::uint64_t map_bytes_first, bool is_full = false) const;
};
/// Opens a ledger. Returns kUnsupported for another format, with a message that says how to rebuild
/// the ledger, and kConflict for one with a mark.
/// @param takes_unfinished  Accept a mark, for the program that makes the copy or the rebuild.
[[nodiscard]] Result<LedgerTables> open_ledger(EnvironmentOptions options,
                                               bool takes_unfinished = false);

/// The mark of a ledger that is not whole yet.
enum class Mark : std::uint8_t { kCopy, kRebuild };
/// Returns the ledger that is being copied here, or the archives of the rebuild, or an empty text.
/// LMDB's code in `rc`.
[[nodiscard]] std::string read_mark(MDB_txn* txn, Mark mark, int& rc);
/// Sets the mark; an empty text removes it. Returns LMDB's code.
[[nodiscard]] int put_mark(MDB_txn* txn, Mark mark, std::string_view from);

/// A cursor of a write transaction that keeps its position. The next key of a batch is mostly on
/// the same page, which is then found without a descent from the root.
class KeptCursor {
public:
    [[nodiscard]] Cursor& cursor() noexcept { return cursor_; }
    /// Inserts or replaces. A row after all others is appended, so that the page before it stays
    /// full.
    [[nodiscard]] int put(MDB_val key, MDB_val value) noexcept;

private:
    static constexpr unsigned kPutsBetweenMax = 255;

    Cursor cursor_;
    unsigned puts_between_ = 0;  ///< Number of inserts to perform before append is tried again.
                                 ///< Grows after each failure.
    unsigned puts_left_ = 0;     ///< Inserts that are left of that number.
};
/// Requires: destroyed before the transaction ends.
using KeptCursors = std::array<KeptCursor, kLedgerTables>;

/// Reads rows of one transaction; failures are thrown as LedgerFailure. Views are valid until the
/// transaction writes or ends.
class RowAccess {
public:
    /// @param kept  nullptr if each look-up begins at the root.
    RowAccess(const LedgerTables& tables, const Txn& txn, KeptCursors* kept = nullptr)
        : env_(tables.env.get()), handles_(&tables.handles), txn_(&txn), kept_(kept) {}

    [[nodiscard]] std::optional<std::string_view> get(Table table, std::string_view key) const;
    [[nodiscard]] bool has(Table table, std::string_view key) const {
        return get(table, key).has_value();
    }
    [[nodiscard]] std::uint64_t count(Table table) const;
    [[nodiscard]] MDB_dbi handle(Table table) const noexcept {
        return (*handles_)[static_cast<std::size_t>(table)];
    }
    /// Requires: cursors are kept.
    [[nodiscard]] KeptCursor& kept_cursor(Table table) const {
        KeptCursor& kept = (*kept_)[static_cast<std::size_t>(table)];
        if (kept.cursor().get() == nullptr) [[unlikely]] {
            open_kept(kept.cursor(), table);
        }
        return kept;
    }
    [[nodiscard]] const std::filesystem::path& folder() const noexcept { return env_->folder(); }
    [[nodiscard]] const Txn& txn() const noexcept { return *txn_; }
    [[nodiscard]] const Environment& environment() const noexcept { return *env_; }

    [[noreturn]] void fail(int rc, std::string_view doing, Table table) const;
    /// Throws DamagedRow, because the bytes are not those that were written.
    /// @param row  As row_name() gives it.
    [[noreturn]] void damaged(const std::string& row, std::optional<OrderKey> order) const;
    /// @param key    The row's key in the table.
    /// @param order  The only order to which the row belongs.
    void check(bool sound, Table table, std::string_view key,
               const std::optional<OrderKey>& order = std::nullopt) const {
        if (!sound) {
            damaged(place_of(table, key), order);
        }
    }
    void check(bool sound, Table table, const OrderKey& order) const {
        if (!sound) {
            damaged(row_name(name_of(table), order), order);
        }
    }

private:
    [[nodiscard]] static std::string place_of(Table table, std::string_view key);
    void open_kept(Cursor& cursor, Table table) const;

    const Environment* env_;
    const LedgerHandles* handles_;
    const Txn* txn_;
    KeptCursors* kept_;
};

/// Walks a table. Requires: destroyed before its transaction ends.
class RowCursor {
public:
    RowCursor(const RowAccess& rows, Table table);

    /// Moves to the first row at or after `key`. Returns false if there is none.
    bool seek(std::string_view key) {
        return key.empty() ? first() : move(key, MDB_SET_RANGE);  // LMDB takes no empty key
    }
    /// Moves to the last row before `key`. Returns false if there is none.
    bool seek_before(std::string_view key) { return seek(key) ? previous() : last(); }
    bool first() { return move({}, MDB_FIRST); }
    bool last() { return move({}, MDB_LAST); }
    /// Drops mapped pages now and then, so that a full scan does not inflate resident memory.
    bool next() {
        if (++steps_ % kStepsBetweenReleases == 0) {
            rows_->environment().release_pages();
        }
        return move({}, MDB_NEXT);
    }
    bool previous() { return move({}, MDB_PREV); }

    [[nodiscard]] std::string_view key() const noexcept { return to_view(key_); }
    [[nodiscard]] std::string_view value() const noexcept { return to_view(value_); }

private:
    static constexpr std::uint64_t kStepsBetweenReleases = 16'384;

    bool move(std::string_view key, MDB_cursor_op operation);

    const RowAccess* rows_;
    Table table_;
    Cursor cursor_;
    MDB_val key_{};
    MDB_val value_{};
    std::uint64_t steps_ = 0;
};

/// Calls `visit(key, value)` for the rows whose key begins with `prefix`, until it returns false.
/// One that returns nothing visits all.
template <class Visit>
void visit_prefix(const RowAccess& rows, Table table, std::string_view prefix, Visit&& visit) {
    RowCursor cursor(rows, table);
    for (bool found = cursor.seek(prefix); found && cursor.key().starts_with(prefix);
         found = cursor.next()) {
        if (!wants_more(visit, cursor.key(), cursor.value())) {
            return;
        }
    }
}

}  // namespace sluice::store
