// Batch keys: what inputs are about to read, for a ledger that fetches it at once.
#pragma once

#include <cstddef>
#include <span>

#include "core/apply/apply.hpp"
#include "core/apply/program_cache.hpp"
#include "core/ledger/ledger.hpp"
#include "core/protocol/order_event.hpp"
#include "core/protocol/product_batch.hpp"

namespace sluice {

/// What reading inputs takes.
struct InputReaders {
    OrderEventParser& orders;
    ProductBatchParser& products;
    ProgramCache& programs;
};

/// See Applier::prefetch().
[[nodiscard]] std::size_t prefetch_keys(const InputReaders& readers, std::span<const Input> inputs,
                                        bool begun, LedgerTxn& txn);

}  // namespace sluice
