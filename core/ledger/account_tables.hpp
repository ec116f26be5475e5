// Account tables: policies, periods, creators, programs, described as core/ledger/tables.hpp says.
#pragma once

#include "core/ledger/account_rows.hpp"
#include "core/ledger/program_rows.hpp"
#include "core/ledger/table_traits.hpp"

namespace sluice {

template <>
struct TableOf<AccountRow> : TableTraits {
    static constexpr const char* kName = "accounts";
    static void key(auto& row, auto&& column) { column("account", row.account); }
    static void rest(auto& row, auto&& column) {
        column("account_id", row.account_id);
        column("closed_until", row.closed_until);
        column("policy", row.policy);
        column("policy_by", row.policy_by);
        column("policy_version", row.policy_version);
        column("open_credits", row.open_credits);
    }
};

template <>
struct TableOf<CreatorHold> : TableTraits {
    static constexpr const char* kName = "creator_holds";
    static void key(auto& row, auto&& column) {
        column("account", row.account);
        column("creator", row.creator);
        column("program", row.program);
    }
    static void rest(auto& row, auto&& column) {
        column("actor", row.actor);
        column("reason", row.reason);
        column("held", row.held_at);
    }
};

template <>
struct TableOf<CreatorRow> : TableTraits {
    static constexpr const char* kName = "creators";
    static void key(auto& row, auto&& column) {
        column("account", row.account);
        column("creator", row.creator);
    }
    static void rest(auto& row, auto&& column) {
        column("name", row.name);
        column("payee", row.payee);
        column("shown_as", row.shown_as);
    }
};

template <>
struct TableOf<CreatorAlias> : TableTraits {
    static constexpr const char* kName = "creator_aliases";
    static constexpr bool kWriteOnce = true;
    static void key(auto& row, auto&& column) {
        column("account", row.account);
        column("alias", row.alias);
    }
    static void rest(auto& row, auto&& column) { column("creator", row.creator); }
};

template <>
struct TableOf<Period> : TableTraits {
    static constexpr const char* kName = "periods";
    static constexpr bool kWriteOnce = true;
    static void key(auto& row, auto&& column) {
        column("account", row.account);
        column("until", row.until);
    }
    static void rest(auto& row, auto&& column) {
        column("closed", row.closed_at);
        column("closed_by", row.closed_by);
        column("command_id", row.command_id);
    }
};

template <>
struct TableOf<PeriodSum> : TableTraits {
    static constexpr const char* kName = "period_sums";
    static constexpr bool kWriteOnce = true;
    static void key(auto& row, auto&& column) {
        column("account", row.account);
        column("until", row.until);
        column("creator", row.creator);
        column("program", row.program);
        column("currency", row.currency);
    }
    static void rest(auto& row, auto&& column) {
        column("opening_owed", row.opening_owed);
        column("opening_in_payout", row.opening_in_payout);
        column("opening_paid", row.opening_paid);
        column("reasons", row.reasons);
        column("closing_owed", row.closing_owed);
        column("closing_in_payout", row.closing_in_payout);
        column("closing_paid", row.closing_paid);
        column("entries", row.entries);
        column("digest", row.digest);
    }
};

template <>
struct TableOf<TierVolume> : TableTraits {
    static constexpr const char* kName = "tier_volumes";
    static void key(auto& row, auto&& column) {
        column("account", row.account);
        column("program", row.program);
        column("creator", row.creator);
        column("month", row.month);
        column("currency", row.currency);
    }
    static void rest(auto& row, auto&& column) { column("amount", row.amount); }
};

template <>
struct TableOf<CustomerOrder> : TableTraits {
    static constexpr const char* kName = "customer_orders";
    static void key(auto& row, auto&& column) {
        column("account", row.account);
        column("shop", row.shop);
        column("customer", row.customer);
        column("ordered", row.ordered_at);
        column("order_id", row.order_id);
    }
    static void rest(auto& /*row*/, auto&& /*column*/) {}
};

template <>
struct TableOf<ProgramHead> : TableTraits {
    static constexpr const char* kName = "programs";
    static void key(auto& row, auto&& column) { column("program", row.program); }
    static void rest(auto& row, auto&& column) {
        column("account", row.account);
        column("version", row.version);
    }
};

template <>
struct TableOf<ProgramVersion> : TableTraits {
    static constexpr const char* kName = "program_versions";
    static constexpr bool kWriteOnce = true;
    static void key(auto& row, auto&& column) {
        column("program", row.program);
        column("version", row.version);
    }
    static void rest(auto& row, auto&& column) {
        column("account", row.account);
        column("account_id", row.account_id);
        column("applied_by", row.applied_by);
        column("applied", row.applied_at);
        column("first_reach", row.first_reach);
        column("json", row.json);
    }
};

template <>
struct TableOf<ShopReach> : TableTraits {
    static constexpr const char* kName = "shop_reaches";
    static void key(auto& row, auto&& column) {
        column("program", row.program);
        column("shop_name", row.shop);
    }
    static void rest(auto& row, auto&& column) { column("reach", row.reach); }
};

template <>
struct TableOf<ForgetTask> : TableTraits {
    static constexpr const char* kName = "forgets";
    static void key(auto& row, auto&& column) { column("command_id", row.command_id); }
    static void rest(auto& row, auto&& column) {
        column("account", row.account);
        column("shop", row.shop);
        column("secret", row.secret);
        column("digests", row.digests);
    }
};

template <>
struct TableOf<ForgetDone> : TableTraits {
    static constexpr const char* kName = "forgets_done";
    static constexpr bool kWriteOnce = true;
    static void key(auto& row, auto&& column) {
        column("command_id", row.command_id);
        column("node_id", row.node);
    }
    static void rest(auto& /*row*/, auto&& /*column*/) {}
};

}  // namespace sluice
