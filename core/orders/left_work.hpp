// Left work: the row of work that an input leaves behind, and the input as the source of what the
// work posts.
#pragma once

#include "core/ledger/head.hpp"
#include "core/ledger/ledger.hpp"
#include "core/orders/context.hpp"

namespace sluice {

/// Numbers a new row. The caller puts it.
[[nodiscard]] Work new_work(WorkKind kind, const WaitKey& key, const Source& source,
                            LedgerTxn& txn);
[[nodiscard]] Source source_of(const Work& work);

}  // namespace sluice
