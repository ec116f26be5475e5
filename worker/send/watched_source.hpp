// Watched source: product records on their way to the server, looked at for misspelt fields.
#pragma once

#include <memory>

#include "worker/send/rejects.hpp"
#include "worker/send/source.hpp"

namespace sluice::cli {

/// The same records; what is misspelt is told to `doubts`, or, without it, makes the record one
/// that cannot be sent. `doubts` must outlive the source.
[[nodiscard]] std::unique_ptr<RecordSource> watched_for_misspellings(
    std::unique_ptr<RecordSource> source, Rejects* doubts);

}  // namespace sluice::cli
