// Described tables: the ledger's smaller rows, each described once (tables.cpp): the table's name,
// its key, and the rest of its columns. Every ledger, copy, digest and check of these rows is a
// loop over the descriptions, so a new table needs no other code.
//
// A column's name is its name in SQL, where an instant is two columns (`name_s`, `name_ns`). A key
// column is never absent. Orders and their events, journal, balances and catalog are not described:
// each ledger stores them in a shape of its own.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/ledger/column.hpp"
#include "core/values/assert.hpp"
#include "core/values/interface.hpp"

namespace sluice {

struct OrderKey;

template <class... Rows>
struct RowTypes {};

/// The rows of every described table.
using DescribedRows = RowTypes<
    struct ShopRow, struct RefundOwner, struct Anomaly, struct WaitingOrder, struct CodeRow,
    struct Membership, struct Click, struct DeadLetter, struct Work, struct WorkOrder,
    struct OpenAmount, struct PayoutRun, struct Payout, struct PayoutPart, struct PayoutItem,
    struct Skipped, struct CommandRow, struct CommandKey, struct MoneyCommand, struct CreditOfOrder,
    struct PendingApproval, struct AttributedOrder, struct AccountRow, struct CreatorHold,
    struct CreatorRow, struct CreatorAlias, struct Period, struct PeriodSum, struct TierVolume,
    struct CustomerOrder, struct ProgramHead, struct ProgramVersion, struct ProgramShop,
    struct ForgetTask, struct ForgetDone, struct RunUntil, struct AppliedBatch, struct PayeeChange,
    struct LimitUse, struct UsedSeal, struct SignedApproval, struct OpeningBalance,
    struct OrderByTime, struct OrderByCreator, struct OrderByCode, struct OrderByNumber,
    struct ChainGroup, struct PayoutByAccount, struct PayoutByCreator, struct RunByAccount,
    struct WaitingByState, struct Attention, struct AttentionCount, struct DailySum,
    struct OrderDay, struct MonthlySum, struct OpenHours, struct ShopMinutes, struct ShopDay,
    struct DeletedOrder, struct ClickByReceipt, struct ClickDay, struct ClickMonth, struct LinkDay,
    struct TierOrder, struct LinkRow, struct LinkByCreator, struct LinksHead, struct CodeDay,
    struct DeadOrder>;

/// The place of a row's table in DescribedRows, or the number of tables if it is not described.
template <class Row, class... Rows>
[[nodiscard]] consteval unsigned table_number(RowTypes<Rows...> /*rows*/) {
    unsigned number = 0;
    (void)((std::is_same_v<Row, Rows> || (++number, false)) || ...);
    return number;
}
template <class Row>
inline constexpr unsigned kTableNumber = table_number<Row>(DescribedRows());
inline constexpr unsigned kDescribedTables = kTableNumber<void>;
template <class Row>
concept Described = kTableNumber<Row> < kDescribedTables;

// ---- Tables and rows ----------------------------------------------------------------------------

struct DescribedTable {
    const char* name = "";
    unsigned number = 0;      ///< In DescribedRows.
    bool per_node = false;    ///< Each node has rows of its own: its number comes before the key.
    bool write_once = false;  ///< A row never changes; two writers of one key are a conflict.
    bool in_bulk = false;     ///< Small rows, mostly written and read very many at a time.
    /// In PostgreSQL the rows follow from another table, by an index and a view. Transactions write
    /// them as all rows, and read none but ClickByReceipt.
    bool index_in_sql = false;
    /// The one column that is not key has hour sums. A row without hours is erased: see
    /// LedgerTxn::add_row().
    bool adds_hours = false;
    /// The first column that is not key is a day. Of two rows that are added, the later day's
    /// stays, and the numbers of one day are added.
    bool keeps_latest = false;
    /// The numbers of one day are joined by OR instead.
    bool joins_bits = false;
    std::vector<Column> key, rest;

    void* (*make)() = nullptr;
    void* (*copy)(const void* row) = nullptr;
    void (*assign)(void* to, const void* from) = nullptr;
    void (*destroy)(void* row) = nullptr;
};

[[nodiscard]] const std::array<DescribedTable, kDescribedTables>& described_tables();
template <Described Row>
[[nodiscard]] const DescribedTable& table_of() {
    return described_tables()[kTableNumber<Row>];
}

/// A row of some described table, owned by another object.
class RowView {
public:
    RowView(const DescribedTable& table, const void* row) noexcept : table_(&table), row_(row) {}
    template <Described Row>
    RowView(const Row& row) : RowView(table_of<Row>(), &row) {}

    [[nodiscard]] const DescribedTable& table() const noexcept { return *table_; }
    [[nodiscard]] const void* get() const noexcept { return row_; }
    template <Described Row>
    [[nodiscard]] bool is() const noexcept {
        return table_->number == kTableNumber<Row>;
    }
    /// Requires: is<Row>().
    template <Described Row>
    [[nodiscard]] const Row& as() const {
        SLUICE_ASSERT(is<Row>());
        return *static_cast<const Row*>(row_);
    }

private:
    const DescribedTable* table_;
    const void* row_;
};

/// A row of some described table that may be changed.
class RowRef : public RowView {
public:
    RowRef(const DescribedTable& table, void* row) noexcept : RowView(table, row), row_(row) {}
    template <Described Row>
    RowRef(Row& row) : RowRef(table_of<Row>(), &row) {}

    [[nodiscard]] void* get() const noexcept { return row_; }
    template <Described Row>
    [[nodiscard]] Row& as() const {
        SLUICE_ASSERT(is<Row>());
        return *static_cast<Row*>(row_);
    }
    void assign(RowView from) const {
        SLUICE_ASSERT(from.table().number == table().number);
        table().assign(row_, from.get());
    }

private:
    void* row_;
};

/// A row of some described table.
class AnyRow {
public:
    /// An empty row.
    explicit AnyRow(const DescribedTable& table)
        : table_(&table), row_(table.make(), table.destroy) {}
    explicit AnyRow(RowView row)
        : table_(&row.table()), row_(table_->copy(row.get()), table_->destroy) {}
    AnyRow(const AnyRow& other) : AnyRow(other.view()) {}
    AnyRow(AnyRow&&) noexcept = default;
    AnyRow& operator=(AnyRow other) noexcept {
        table_ = other.table_;
        row_ = std::move(other.row_);
        return *this;
    }
    ~AnyRow() = default;

    [[nodiscard]] RowView view() const noexcept { return {*table_, row_.get()}; }
    [[nodiscard]] RowRef ref() noexcept { return {*table_, row_.get()}; }

private:
    const DescribedTable* table_;
    std::unique_ptr<void, void (*)(void*)> row_;
};

using RowVisitor = Visitor<RowView>;

/// The rows that a scan visits, in the order of their keys. They have the first `same` key columns
/// of the given row. The scan begins at the row's first `from` key columns.
/// Requires: same <= from <= the number of the key's columns.
struct KeyRange {
    unsigned same = 0;
    unsigned from = 0;
};

/// Returns `table codes, account 1, digest 2c26..., program spring`: a row as an error names it.
[[nodiscard]] std::string row_name(RowView row);
/// Names a row of a table that is not described, by its order.
[[nodiscard]] std::string row_name(const char* table, const OrderKey& order);
/// Returns the one order that the row belongs to, or nothing.
[[nodiscard]] std::optional<OrderKey> order_of(RowView row);

/// Adds the numbers and amounts of `change` to those of `row`: its columns that are not key. See
/// DescribedTable::keeps_latest, joins_bits and adds_hours. Throws DamagedRow if hour sums are not
/// as written. Requires: both are rows of one table, which has no other columns.
void add_columns(RowRef row, RowView change);
/// Returns whether the table has hour sums and the row has none.
[[nodiscard]] bool is_dropped(RowView row);

// ---- Keys as bytes ------------------------------------------------------------------------------

/// Takes the components of a key. Numbers are big endian; an instant's seconds are moved so that
/// the earliest is 0. A text ends in 0x00, which no id contains, unless it is the last column.
class KeySink {
public:
    virtual void bytes(std::string_view raw) = 0;
    virtual void id(std::string_view id) = 0;

protected:
    ~KeySink() = default;
};
/// Writes the key of a row, or its first `columns`.
void write_key(RowView row, unsigned columns, KeySink& sink);
/// Returns the key as bytes, which sort as the columns do, one after the other.
[[nodiscard]] std::string sort_key(RowView row, unsigned columns = ~0U);
/// Appends it to a text.
void append_sort_key(RowView row, std::string& to, unsigned columns = ~0U);

}  // namespace sluice
