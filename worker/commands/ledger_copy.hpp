// sluice ledger copy
#pragma once

#include "worker/cli/cli.hpp"

namespace sluice::cli {

void declare_ledger_copy(Subcommand group);

}  // namespace sluice::cli
