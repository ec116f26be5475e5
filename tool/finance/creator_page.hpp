// The subcommands of creators' pages. Internal to tool/finance.
#pragma once

#include "program/cli/cli.hpp"

namespace sluice::cli {

void declare_creator_page(Subcommand group);

}  // namespace sluice::cli
