// sluice reconcile
#pragma once

#include "worker/cli/cli.hpp"

namespace sluice::cli {

void declare_reconcile(Subcommand app);

}  // namespace sluice::cli
