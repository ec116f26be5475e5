// Clicks: what the record of one request does.
#pragma once

#include "core/ledger/ledger.hpp"
#include "core/orders/context.hpp"
#include "core/orders/program_cache.hpp"
#include "core/protocol/click_record.hpp"

namespace sluice {

/// Stores the clicks, deletes old ones of the account, and queues the orders that wait for their
/// devices. Programs and creators need not exist.
void apply_clicks(const ClickRecord& record, const CommandContext& context, ProgramCache& programs,
                  LedgerTxn& txn);

}  // namespace sluice
