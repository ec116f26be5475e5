// payout export: tells the bank, and notes that it was told (books P6).
#pragma once

#include "worker/cli/cli.hpp"

namespace sluice::cli {

/// Declares `payout export`.
void declare_export(Subcommand group);

}  // namespace sluice::cli
