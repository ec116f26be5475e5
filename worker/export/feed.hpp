// sluice feed
#pragma once

#include "worker/cli/cli.hpp"

namespace sluice::cli {

void declare_feed(Subcommand app);

}  // namespace sluice::cli
