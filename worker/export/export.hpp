// sluice export
#pragma once

#include "worker/cli/cli.hpp"

namespace sluice::cli {

void declare_export_tables(Subcommand app);

}  // namespace sluice::cli
