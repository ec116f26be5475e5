// sluice ledger copy
#pragma once

#include "worker/cli/cli.hpp"

namespace sluice::cli {

void declare_ledger_copy(CLI::App& group, Frame& frame);

}  // namespace sluice::cli
