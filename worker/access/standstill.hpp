// Standstill: tells the reader of a report that the worker does not apply new inputs.
#pragma once

#include "program/cli/cli.hpp"

namespace sluice::cli {

/// Prints a note on stderr if inputs wait and no worker of this node has given a sign of life for
/// five minutes, or none ever ran. Opens no queue and waits for no lock.
void tell_standstill(const Frame& frame);

}  // namespace sluice::cli
