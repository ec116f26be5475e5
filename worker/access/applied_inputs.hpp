// Applied inputs: the wait of a read that must not miss what the queue took before it.
#pragma once

#include <string>

#include "core/values/result.hpp"
#include "worker/cli/cli.hpp"

namespace sluice::cli {

/// Waits until every input that this node's queue and lanes hold now is applied, at most 60 s.
/// Returns kBusy if some are not applied then, or if a signal ended the wait.
[[nodiscard]] Status wait_for_inputs(const Frame& frame, const std::string& ledger_url);

}  // namespace sluice::cli
