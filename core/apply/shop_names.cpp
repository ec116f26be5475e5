#include "core/apply/shop_names.hpp"

#include <string>

namespace sluice {

/// Numbers come from the registry, so nodes that share a ledger must share a registry, too: else
/// one shop's orders would be posted to another's.
void ShopNames::learn(const RecordMeta& meta, LedgerTxn& txn) {
    if (known_.contains(meta.shop_number.value)) {
        return;
    }
    const std::optional<ShopRow> stored = txn.shop(meta.shop_number);
    if (!stored) {
        txn.put(ShopRow{meta.account_number, meta.shop_number, AccountId(meta.account_id),
                        ShopId(meta.shop_id)});
    } else if (stored->account != meta.account_number || stored->shop_id.view() != meta.shop_id) {
        throw LedgerFailure(
            {ErrorCode::kConflict,
             "shop number " + std::to_string(meta.shop_number.value) + " is " +
                 stored->shop_id.str() + " of account " + stored->account_id.str() +
                 " in the ledger, but " + std::string(meta.shop_id) + " of account " +
                 std::string(meta.account_id) +
                 " in this store: its registry is not the one of this ledger. Nothing was "
                 "applied"});
    }
    known_.insert(meta.shop_number.value);
}

}  // namespace sluice
