// Product batches, applied: records in their order.
#pragma once

#include <string_view>

#include "core/ledger/ledger.hpp"
#include "core/protocol/topic.hpp"
#include "core/values/ids.hpp"

namespace sluice {

/// Requires: `body` is a valid batch for `topic`.
void apply_catalog(Topic topic, std::string_view body, AccountNumber account, ShopNumber shop,
                   LedgerTxn& txn);

}  // namespace sluice
