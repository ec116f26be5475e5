// Tables: the ledger's smaller rows, each described once: its name, its key, and the rest of it.
// Interfaces, codecs and statements of every ledger follow from these descriptions.
//
// key() and rest() call `column(name, value)` for each column, in the order of the key; `row` may
// be const. A name is the column's name in SQL, where an instant is two (`name_s`, `name_ns`).
// `column.bytes()` marks what is no text. A key column is never absent.
//
// Traits, false unless a table says otherwise:
//   kPerNode    rows of one node are apart from those of others: its number comes before the key
//   kWriteOnce  a row never changes; two writers of one key are a conflict
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/ledger/book_tables.hpp"
#include "core/ledger/head.hpp"
#include "core/ledger/rows.hpp"

namespace sluice {

template <>
struct TableOf<ShopRow> : TableTraits {
    static constexpr const char* kName = "shops";
    static void key(auto& row, auto&& column) { column("shop", row.shop); }
    static void rest(auto& row, auto&& column) {
        column("account", row.account);
        column("account_id", row.account_id);
        column("shop_id", row.shop_id);
    }
};

template <>
struct TableOf<RefundOwner> : TableTraits {
    static constexpr const char* kName = "refunds";
    static constexpr bool kWriteOnce = true;
    static void key(auto& row, auto&& column) {
        column("account", row.account);
        column("shop", row.shop);
        column("refund_id", row.refund_id);
    }
    static void rest(auto& row, auto&& column) {
        column("order_id", row.order_id);
        column("line_id", row.line);
    }
};

template <>
struct TableOf<Anomaly> : TableTraits {
    static constexpr const char* kName = "anomalies";
    static void key(auto& row, auto&& column) {
        column("account", row.order.account);
        column("shop", row.order.shop);
        column("order_id", row.order.order_id);
        column("kind", row.kind);
    }
    static void rest(auto& row, auto&& column) {
        column("node_id", row.node);
        column("first_seq", row.first_seq);
        column("recorded", row.recorded_at);
        column("count", row.count);
        column("message", row.message);
        column("showing", row.showing);
        column("acknowledged_by", row.acknowledged_by);
        column("acknowledged", row.acknowledged_at);
    }
};

template <>
struct TableOf<WaitingOrder> : TableTraits {
    static constexpr const char* kName = "waiting";
    static void key(auto& row, auto&& column) {
        column("account", row.key.account);
        column("kind", row.key.kind);
        column("digest", row.key.digest);
        column("ordered", row.ordered_at);
        column("shop", row.shop);
        column("order_id", row.order_id);
    }
    static void rest(auto& /*row*/, auto&& /*column*/) {}
};

template <>
struct TableOf<CodeRow> : TableTraits {
    static constexpr const char* kName = "codes";
    static void key(auto& row, auto&& column) {
        column("account", row.account);
        column("digest", row.digest);
        column("program", row.program);
        column("valid_from", row.valid_from);
    }
    static void rest(auto& row, auto&& column) {
        column("code", row.code);
        column("creator", row.creator);
        column("valid_until", row.valid_until);
    }
};

template <>
struct TableOf<Membership> : TableTraits {
    static constexpr const char* kName = "memberships";
    static void key(auto& row, auto&& column) {
        column("account", row.account);
        column("program", row.program);
        column("creator", row.creator);
    }
    static void rest(auto& row, auto&& column) {
        column("removed", row.removed);
        column("changed_by", row.changed_by);
        column("member_group", row.group);
        column("reach", row.reach);
    }
};

template <>
struct TableOf<Touch> : TableTraits {
    static constexpr const char* kName = "touches";
    static void key(auto& row, auto&& column) {
        column("account", row.account);
        column("anon", row.anon);
        column("program", row.program);
        column("occurred", row.occurred_at);
        column("creator", row.creator);
    }
    static void rest(auto& row, auto&& column) {
        column("import", row.imported);
        column("import_row", row.imported_row);
        column("reach", row.reach);
    }
};

template <>
struct TableOf<DeadLetter> : TableTraits {
    static constexpr const char* kName = "dead";
    static constexpr bool kPerNode = true;
    static void key(auto& row, auto&& column) { column("seq", row.seq); }
    static void rest(auto& row, auto&& column) {
        column("topic", row.topic);
        column("account", row.account);
        column("shop", row.shop);
        column("account_id", row.account_id);
        column("shop_id", row.shop_id);
        column("received", row.received_at);
        column("reason", row.reason);
        column("attempts", row.attempts);
        column.bytes("record", row.record);
        column.bytes("bulk_body", row.bulk_body);
        column("body_sha256", row.body_sha256);
    }
};

template <>
struct TableOf<Work> : TableTraits {
    static constexpr const char* kName = "work";
    static constexpr bool kPerNode = true;
    static void key(auto& row, auto&& column) { column("number", row.number); }
    static void rest(auto& row, auto&& column) {
        column("work_kind", row.kind);
        column("account", row.key.account);
        column("kind", row.key.kind);
        column("digest", row.key.digest);
        column("subject", row.subject);
        column("after_ordered", row.after_ordered);
        column("after_shop", row.after_shop);
        column("after_order", row.after_order);
        column("cause", row.cause);
        column("cause_topic", row.cause_topic);
        column("command_id", row.command_id);
        column("actor", row.actor);
        column("reason", row.reason);
        column("received", row.received_at);
    }
};

template <>
struct TableOf<WorkOrder> : TableTraits {
    static constexpr const char* kName = "work_orders";
    static constexpr bool kPerNode = true;
    static void key(auto& row, auto&& column) {
        column("work", row.work);
        column("ordered", row.ordered_at);
        column("account", row.account);
        column("shop", row.shop);
        column("order_id", row.order_id);
    }
    static void rest(auto& /*row*/, auto&& /*column*/) {}
};

/// Every table that is described here and in book_tables.hpp. What has a table of its own shape in
/// each ledger is not: orders and their events, journal, balances, catalog.
using DescribedRows =
    RowTypes<ShopRow, RefundOwner, Anomaly, WaitingOrder, CodeRow, Membership, Touch, DeadLetter,
             Work, WorkOrder, OpenAmount, PayoutRun, Payout, PayoutPart, PayoutItem, Skipped,
             CommandRow, CommandKey, MoneyCommand, CreditOfOrder, WaitingCommand, GivenOrder,
             AccountRow, CreatorHold, CreatorRow, CreatorAlias, Period, PeriodSum, TierVolume,
             CustomerOrder, ProgramHead, ProgramVersion, ShopReach, ForgetTask, ForgetDone>;

/// How many columns a key has.
template <class Row>
[[nodiscard]] unsigned key_columns() {
    ColumnCount count;
    const Row row{};
    TableOf<Row>::key(row, count);
    return count.columns;
}

}  // namespace sluice
