// Counts instructions, so that a test of "takes as long" needs no clock.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

namespace sluice::test {

/// The number of instructions that `work` executes the second time, by stepping through it in a
/// child process: by then symbols, static objects and the heap are warm. Nothing where the system
/// does not let a process trace its child.
std::optional<std::uint64_t> instructions_of(const std::function<void()>& work);

}  // namespace sluice::test
