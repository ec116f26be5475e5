// Members of the objects that the API returns, and lists that the API alone has. Other lists are in
// core/lists/.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/ledger/head.hpp"
#include "core/ledger/payout_rows.hpp"
#include "core/lists/list.hpp"
#include "core/lists/overview.hpp"
#include "core/lists/silence.hpp"
#include "serve/read/resource.hpp"

namespace sluice::serve {

[[nodiscard]] const std::vector<lists::Column>& me_members();
[[nodiscard]] const std::vector<lists::Column>& today_members();
[[nodiscard]] const std::vector<lists::Column>& order_members();
[[nodiscard]] const std::vector<lists::Column>& link_members();
[[nodiscard]] const std::vector<lists::Column>& creator_members();
[[nodiscard]] const std::vector<lists::Column>& creator_link_members();
[[nodiscard]] const std::vector<lists::Column>& approval_members();
[[nodiscard]] const std::vector<lists::Column>& changes_members();

/// A registered shop, and what it has sent.
struct ShopOf {
    const store::RegisteredShop& shop;
    std::optional<lists::Silence> silence;  ///< Absent if it has sent nothing yet.
    std::uint64_t dead_letters;             ///< In the last 30 days.
    lists::DeviceCount devices;             ///< New orders of the last 7 days.
    Timestamp now;
};
[[nodiscard]] const lists::List<ShopOf>& shop_list();
/// A payout run with the sums of its payouts.
struct RunOf {
    const AccountId& account_id;
    const PayoutRun& run;
    Json sums;
};
[[nodiscard]] const lists::List<RunOf>& run_list();
/// Unfinished payouts of one state and currency.
struct PayoutAgeOf {
    PayoutState state;
    Currency currency;
    std::uint64_t payouts;
    Timestamp oldest;
    std::array<Decimal, 4> amounts;  ///< By age.

    [[nodiscard]] Decimal total() const;
};
[[nodiscard]] const lists::List<PayoutAgeOf>& payout_age_list();
/// A node of the fleet.
struct NodeOf {
    const LedgerHead& head;
    const ChainHead& chain;  ///< The account's.
    bool is_behind;
    const WorkerPage* worker;  ///< This node's, or null.
};
[[nodiscard]] const lists::List<NodeOf>& node_list();
/// A hit of a search.
struct HitOf {
    std::string_view kind, id;
    Json shop;
    std::string_view sentence;
    Json creator;
    std::string_view match;  ///< How it matches.
};
[[nodiscard]] const lists::List<HitOf>& search_list();

}  // namespace sluice::serve
