// Allocation: assigns items of positions and credits to payouts, and releases the items when a
// payout is void, failed or returned (rules P2, P4). Posts the entries of payouts.
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/ledger/ledger.hpp"
#include "core/orders/context.hpp"
#include "core/payouts/sound_credit.hpp"
#include "core/rules/account.hpp"

namespace sluice {

/// Changes the positions of one command's payouts. Memory: a slice of items.
class PayoutAllocation {
public:
    /// All arguments must outlive this object.
    PayoutAllocation(const Source& source, const AccountSettings& settings, LedgerTxn& txn)
        : source_(source), settings_(settings), txn_(txn), credits_(txn) {}

    /// Allocates items of one position, or of one credit, to a payout that is being made.
    /// @param order  The position's order as stored; nullptr for a credit.
    void allocate(const Payout& payout, std::span<const PayoutItem> items, OrderState* order);
    /// Adjusts positions after payouts changed their state. Releases the items of payouts that are
    /// not active any more, and judges the anomalies of every order (H2).
    void follow(std::span<const Payout> moved);

    /// Posts one amount per program.
    void post_parts(const Payout& payout, std::span<const PayoutPart> parts, JournalReason reason);
    /// Posts a memo entry on a payout of the creator.
    void post_memo(const CreatorId& creator, const std::string& payout_id, JournalReason reason,
                   std::string_view line);

private:
    [[nodiscard]] JournalGroup group_of_payout(const CreatorId& creator,
                                               const std::string& payout_id) const;

    using ItemOf = std::pair<const Payout*, PayoutItem>;

    void follow_slice(const std::vector<ItemOf>& slice);
    void follow_order(const Payout& payout, std::span<const ItemOf> items);
    void change_credit(const Payout& payout, const PayoutItem& item, bool allocates);
    /// Judges anomalies, then writes the order and the index of open amounts if `moved`, or if the
    /// anomalies changed.
    void finish(OrderState& state, const std::vector<OpenAmount>& before, bool moved);
    [[nodiscard]] bool is_credited(const OrderKey& key);

    const Source& source_;
    const AccountSettings& settings_;
    LedgerTxn& txn_;
    SoundCredits credits_;
    OrderState state_;
    /// (shop id, order id) that credits of the account name, once they were read.
    std::optional<std::set<std::pair<ShopId, OrderId>>> credited_;
};

}  // namespace sluice
