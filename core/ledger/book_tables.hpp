// Book tables: payouts, commands, accounts and what else the books need, described as
// core/ledger/tables.hpp says.
#pragma once

#include "core/ledger/account_tables.hpp"
#include "core/ledger/command_rows.hpp"
#include "core/ledger/payout_rows.hpp"
#include "core/ledger/table_traits.hpp"

namespace sluice {

template <>
struct TableOf<OpenAmount> : TableTraits {
    static constexpr const char* kName = "open";
    static void key(auto& row, auto&& column) {
        column("account", row.account);
        column("program", row.program);
        column("matured", row.matured);
        column("sold", row.sold_at);
        column("shop", row.shop);
        column("order_id", row.order_id);
        column("creator", row.creator);
        column("currency", row.currency);
    }
    static void rest(auto& row, auto&& column) {
        column("amount", row.amount);
        column("last_booked", row.last_booked);
        column("blocks", row.blocks);
    }
};

template <>
struct TableOf<PayoutRun> : TableTraits {
    static constexpr const char* kName = "runs";
    static constexpr bool kWriteOnce = true;
    static void key(auto& row, auto&& column) { column("run", row.run); }
    static void rest(auto& row, auto&& column) {
        column("node_id", row.node);
        column("account", row.account);
        column("until", row.until);
        column("closed", row.closed_at);
        column("closed_by", row.closed_by);
        column("payouts", row.payouts_count);
        column("digest", row.digest);
    }
};

template <>
struct TableOf<Payout> : TableTraits {
    static constexpr const char* kName = "payouts";
    static void key(auto& row, auto&& column) { column("payout_id", row.payout_id); }
    static void rest(auto& row, auto&& column) {
        column("account", row.account);
        column("creator", row.creator);
        column("currency", row.currency);
        column("amount", row.amount);
        column("payout_state", row.state);
        column("until", row.until);
        column("closed", row.closed_at);
        column("closed_by", row.closed_by);
        column("approved_by", row.approved_by);
        column("approved", row.approved_at);
        column("sent_by", row.sent_by);
        column("sent", row.sent_at);
        column("ended_by", row.ended_by);
        column("ended", row.ended_at);
        column("bank_ref", row.bank_ref);
        column("paid", row.paid_at);
        column("orders", row.orders_count);
        column("items", row.items_count);
        column("items_digest", row.items_digest);
    }
};

template <>
struct TableOf<PayoutPart> : TableTraits {
    static constexpr const char* kName = "payout_parts";
    static constexpr bool kWriteOnce = true;
    static constexpr bool kInBulk = true;
    static void key(auto& row, auto&& column) {
        column("payout_id", row.payout_id);
        column("program", row.program);
    }
    static void rest(auto& row, auto&& column) { column("amount", row.amount); }
};

template <>
struct TableOf<PayoutItem> : TableTraits {
    static constexpr const char* kName = "payout_items";
    static constexpr bool kWriteOnce = true;
    static constexpr bool kInBulk = true;
    static void key(auto& row, auto&& column) {
        column("payout_id", row.payout_id);
        column("program", row.program);
        column("shop_id", row.shop_id);
        column("order_id", row.order_id);
        column("line_id", row.line);
        column("item_kind", row.kind);
    }
    static void rest(auto& row, auto&& column) {
        column("amount", row.amount);
        column("shop", row.shop);
        column("sold", row.sold_at);
    }
};

template <>
struct TableOf<Skipped> : TableTraits {
    static constexpr const char* kName = "skipped";
    static constexpr bool kWriteOnce = true;
    static void key(auto& row, auto&& column) {
        column("run", row.run);
        column("creator", row.creator);
        column("currency", row.currency);
        column("why", row.why);
    }
    static void rest(auto& row, auto&& column) { column("amount", row.amount); }
};

template <>
struct TableOf<CommandRow> : TableTraits {
    static constexpr const char* kName = "commands";
    static constexpr bool kPerNode = true;
    static void key(auto& row, auto&& column) { column("seq", row.seq); }
    static void rest(auto& row, auto&& column) {
        column("topic", row.topic);
        column("command_id", row.command_id);
        column("actor", row.actor);
        column("received", row.received_at);
        column("outcome", row.outcome);
        column("result", row.result);
        column("first_command", row.first_command);
    }
};

template <>
struct TableOf<CommandKey> : TableTraits {
    static constexpr const char* kName = "keys";
    static constexpr bool kWriteOnce = true;
    static void key(auto& row, auto&& column) {
        column("account", row.account);
        column("key_text", row.key);
    }
    static void rest(auto& row, auto&& column) {
        column("content", row.content);
        column("command_id", row.command_id);
        column("outcome", row.outcome);
        column("result", row.result);
    }
};

template <>
struct TableOf<MoneyCommand> : TableTraits {
    static constexpr const char* kName = "money_commands";
    static void key(auto& row, auto&& column) { column("command_id", row.command_id); }
    static void rest(auto& row, auto&& column) {
        column("account", row.account);
        column("topic", row.topic);
        column("shop", row.shop);
        column("shop_id", row.shop_id);
        column("order_id", row.order_id);
        column("program", row.program);
        column("creator", row.creator);
        column("currency", row.currency);
        column("amount", row.amount);
        column("reversed_by", row.reversed_by);
        column("reverses", row.reverses);
        column("sale", row.sale_at);
        column("due", row.due);
        column("taken", row.taken);
        column("last_booked", row.last_booked);
        column("first_entry", row.first_entry);
        column("standing_items", row.standing_items);
    }
};

template <>
struct TableOf<CreditOfOrder> : TableTraits {
    static constexpr const char* kName = "credits_of_orders";
    static void key(auto& row, auto&& column) {
        column("account", row.account);
        column("shop_id", row.shop_id);
        column("order_id", row.order_id);
        column("command_id", row.command_id);
    }
    static void rest(auto& /*row*/, auto&& /*column*/) {}
};

template <>
struct TableOf<WaitingCommand> : TableTraits {
    static constexpr const char* kName = "waiting_commands";
    static void key(auto& row, auto&& column) {
        column("account", row.account);
        column("command_id", row.command_id);
    }
    static void rest(auto& row, auto&& column) {
        column("topic", row.topic);
        column("shop", row.shop);
        column("shop_id", row.shop_id);
        column("body", row.body);
        column("actor", row.actor);
        column("reason", row.reason);
        column("received", row.received_at);
        column("currency", row.currency);
        column("amount", row.amount);
        column("program", row.program);
        column("creator", row.creator);
        column("approval_state", row.state);
        column("ended_by", row.ended_by);
        column("ended", row.ended_at);
    }
};

template <>
struct TableOf<GivenOrder> : TableTraits {
    static constexpr const char* kName = "given_orders";
    static void key(auto& row, auto&& column) {
        column("command_id", row.command_id);
        column("account", row.account);
        column("shop", row.shop);
        column("order_id", row.order_id);
    }
    static void rest(auto& /*row*/, auto&& /*column*/) {}
};

}  // namespace sluice
