// The embedded ledger's environment on disk. Internal to this room; docs/record-format.md has the
// values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/ledger/ledger.hpp"
#include "core/ledger/row_name.hpp"
#include "lmdb_store/environment/environment.hpp"

namespace sluice::store {

inline constexpr std::uint32_t kLedgerFormat = 2;

/// Tables with shapes of their own; those that core/ledger/tables.hpp describes follow.
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
};
inline constexpr std::array<const char*, 11> kOwnTables = {
    "heads",   "chains",          "shop_ids", "orders",  "events",  "digests",
    "journal", "creator_journal", "balances", "catalog", "variants"};
static_assert(kOwnTables.size() == static_cast<std::size_t>(Table::kVariants) + 1);

template <class... Rows>
[[nodiscard]] constexpr auto names_of_tables(RowTypes<Rows...> /*described*/) {
    std::array<const char*, kOwnTables.size() + sizeof...(Rows)> names{};
    std::size_t at = 0;
    for (const char* name : kOwnTables) {
        names[at++] = name;
    }
    ((names[at++] = TableOf<Rows>::kName), ...);
    return names;
}
inline constexpr auto kLedgerTables = names_of_tables(DescribedRows());

/// The table of the rows that core/ledger/tables.hpp describes.
template <class Row>
[[nodiscard]] consteval Table table_of() {
    std::size_t at = kOwnTables.size();
    while (std::string_view(kLedgerTables[at]) != TableOf<Row>::kName) {
        ++at;
    }
    return static_cast<Table>(at);
}

using LedgerHandles = std::array<MDB_dbi, kLedgerTables.size()>;

[[nodiscard]] inline const char* name_of(Table table) noexcept {
    return kLedgerTables[static_cast<std::size_t>(table)];
}

/// Fills a new environment.
[[nodiscard]] int create_ledger_tables(MDB_txn* txn);
/// kUnsupported: another format. The message says how to build the ledger anew. kConflict: a copy
/// that was not finished.
/// @param takes_unfinished  For who makes that copy.
[[nodiscard]] Status check_ledger_format(Environment& env, bool takes_unfinished = false);

/// The ledger that is being copied here, as its mark says; empty: none is. LMDB's code in `rc`.
[[nodiscard]] std::string copy_mark(MDB_txn* txn, int& rc);
/// Sets the mark; an empty one takes it away. @return LMDB's code.
[[nodiscard]] int put_copy_mark(MDB_txn* txn, std::string_view from);

/// A cursor of a write transaction, which stays where it stands: the next key of a batch lies
/// mostly on the same page, and needs no way down from the root then.
class KeptCursor {
public:
    [[nodiscard]] Cursor& cursor() noexcept { return cursor_; }
    /// Insert or replace. A row behind all others is appended: the page before it stays full.
    [[nodiscard]] int put(MDB_val key, MDB_val value) noexcept;

private:
    static constexpr unsigned kPutsBetweenMax = 255;

    Cursor cursor_;
    unsigned puts_between_ = 0;  ///< Not tried as appends since the last one that was none.
    unsigned puts_left_ = 0;     ///< Of these.
};
/// Requires: destroyed before the transaction ends.
using KeptCursors = std::array<KeptCursor, kLedgerTables.size()>;

/// Reads rows of one transaction; failures are thrown as LedgerFailure. Views are valid until the
/// transaction writes or ends.
class RowAccess {
public:
    /// @param kept  nullptr: each look-up begins at the root.
    RowAccess(const Environment& env, const LedgerHandles& handles, const Txn& txn,
              KeptCursors* kept = nullptr)
        : env_(&env), handles_(&handles), txn_(&txn), kept_(kept) {}

    [[nodiscard]] std::optional<std::string_view> get(Table table, std::string_view key) const;
    [[nodiscard]] bool has(Table table, std::string_view key) const {
        return get(table, key).has_value();
    }
    [[nodiscard]] std::uint64_t count(Table table) const;
    [[nodiscard]] MDB_dbi handle(Table table) const noexcept {
        return (*handles_)[static_cast<std::size_t>(table)];
    }
    /// Requires: they are kept.
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
    /// Bytes that are not what was written. @param row  As row_name() gives it.
    [[noreturn]] void damaged(const std::string& row, std::optional<OrderKey> order) const;
    /// @param key    Of the row in the table.
    /// @param order  The one order whose row it is.
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
    [[nodiscard]] bool disk_is_full() const;
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

    /// The first row at or behind `key`; false: none.
    bool seek(std::string_view key) {
        return key.empty() ? first() : move(key, MDB_SET_RANGE);  // LMDB takes no empty key
    }
    bool first() { return move({}, MDB_FIRST); }
    bool last() { return move({}, MDB_LAST); }
    /// A long walk stays small: what lies behind is let go.
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
template <class Visit>
void visit_prefix(const RowAccess& rows, Table table, std::string_view prefix, Visit&& visit) {
    RowCursor cursor(rows, table);
    for (bool found = cursor.seek(prefix); found && cursor.key().starts_with(prefix);
         found = cursor.next()) {
        if (!visit(cursor.key(), cursor.value())) {
            return;
        }
    }
}

}  // namespace sluice::store
