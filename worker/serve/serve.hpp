// `sluice serve`: the API and the page.
#pragma once

#include "worker/cli/cli.hpp"

namespace sluice::cli {

void declare_serve(Subcommand app);

}  // namespace sluice::cli
