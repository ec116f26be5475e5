// Readers of a whole ledger: its canonical dump, and its check. Internal to this room.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lmdb_store/ledger/tables.hpp"

namespace sluice::store {

class LedgerRows;

[[nodiscard]] std::unique_ptr<LedgerRows> make_rows(const Environment& env,
                                                    const LedgerHandles& handles, ReadTxn txn,
                                                    std::string_view node);

[[nodiscard]] std::vector<std::string> verify_ledger(const Environment& env,
                                                     const LedgerHandles& handles, ReadTxn txn,
                                                     std::string_view node,
                                                     std::size_t problems_max);

}  // namespace sluice::store
