// From the receipt of an event to its record, its outcome and its order.
#pragma once

#include <string>

#include "core/ledger/ledger.hpp"
#include "core/values/result.hpp"
#include "worker/access/receipt_search.hpp"
#include "worker/cli/cli.hpp"
#include "worker/cli/output.hpp"

namespace sluice::cli {

/// Text, or one JSON object. Of an order event, the explanation of its order follows, as soon as
/// the ledger has it.
/// kNotFound: there is no such record (any more). Throws LedgerFailure.
[[nodiscard]] Result<std::string> explain_receipt(const Frame& frame, LedgerReader& ledger,
                                                  const RecordName& name, Format format);

}  // namespace sluice::cli
