// Product batches, applied: records in their order.
#pragma once

#include <string_view>

#include "core/ids.hpp"
#include "core/ledger.hpp"
#include "core/topic.hpp"

namespace sluice {

/// Requires: `body` is a valid batch for `topic`.
void apply_products(Topic topic, std::string_view body, AccountNumber account, ShopNumber shop,
                    LedgerTxn& txn);

}  // namespace sluice
