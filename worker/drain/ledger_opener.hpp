// Ledger opener: how the drain gets its ledger, at the start and again after an I/O error.
#pragma once

#include <functional>
#include <memory>

#include "core/ledger/ledger.hpp"
#include "core/values/result.hpp"
#include "lmdb_store/store/format.hpp"

namespace sluice::worker {

using LedgerOpener = std::function<Result<std::unique_ptr<Ledger>>()>;

/// The embedded ledger of a store, for writing.
[[nodiscard]] LedgerOpener embedded_ledger(const store::StorePaths& paths);

}  // namespace sluice::worker
