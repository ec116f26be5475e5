// Standing: payouts take items from positions and credits, and let them go (books P2, P4).
#pragma once

#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "core/orders/context.hpp"
#include "core/rules/account_settings.hpp"

namespace sluice {

/// Changes the positions of one command's payouts. Memory: a slice of items.
class Standing {
public:
    /// Everything outlives it.
    Standing(const Source& source, const AccountSettings& settings, LedgerTxn& txn)
        : source_(source), settings_(settings), txn_(txn) {}

    /// A payout that is made takes items of one position, or of one credit.
    /// @param order  The position's, as it is stored; nullptr: a credit.
    void take(const Payout& payout, std::span<const PayoutItem> items, OrderState* order);
    /// Payouts have moved: of those that stand no more, what their items took is open again; the
    /// orders are judged (H2).
    void follow(std::span<const Payout> moved);

private:
    using ItemOf = std::pair<const Payout*, PayoutItem>;

    void follow_slice(const std::vector<ItemOf>& slice);
    void follow_group(const Payout& payout, std::span<const ItemOf> group);
    void move_credit(const Payout& payout, const PayoutItem& item, bool taken);
    /// Judges anomalies, writes the order and the index of open amounts.
    void finish(OrderState& state, const std::vector<OpenAmount>& before, bool moved);
    [[nodiscard]] bool is_credited(const OrderKey& key);

    const Source& source_;
    const AccountSettings& settings_;
    LedgerTxn& txn_;
    OrderState state_;
    /// Orders that credits of the account name, once they were read: by shop id, order id.
    std::optional<std::set<std::pair<ShopId, OrderId>>> credited_;
};

}  // namespace sluice
