// sluice notify
#pragma once

#include "worker/cli/cli.hpp"

namespace sluice::cli {

void declare_notify(Subcommand app);

}  // namespace sluice::cli
