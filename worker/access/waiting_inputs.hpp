// Waiting inputs: inputs in queue and lanes of this store that the ledger has not applied,
// so that a command does not say that something is missing which waits.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "core/ledger/ledger.hpp"
#include "core/protocol/record.hpp"
#include "program/cli/cli.hpp"

namespace sluice::cli {

/// Returns how many order events that wait `is_wanted`, of the lanes and the next 100,000 records
/// of the queue. Returns 0 if this store's queue cannot be read at once, because another process
/// has its locks, or if the ledger is another machine's.
/// @param is_wanted  Takes the record's description and its body.
[[nodiscard]] std::uint64_t count_waiting(
    const Frame& frame, LedgerReader& ledger,
    const std::function<bool(const RecordMeta& meta, std::string_view body)>& is_wanted);

}  // namespace sluice::cli
