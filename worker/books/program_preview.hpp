// program preview: what a changed program file would have made of the past (books A4).
#pragma once

#include "worker/cli/cli.hpp"

namespace sluice::cli {

/// Declares `program preview`.
void declare_program_preview(Subcommand group);

}  // namespace sluice::cli
