// Applied: the outcome of one input.
#pragma once

#include <cstddef>
#include <string>

#include "core/ledger/head.hpp"

namespace sluice {

struct Applied {
    InputClass input_class = InputClass::kApplied;
    bool failed = false;  ///< A command that was refused; `text` says why. Nothing else changed.
    std::string text;     ///< Commands: result. Dead: reason. Else empty.
    CommandOutcome outcome = CommandOutcome::kDone;  ///< Of a command.
};

/// Orders of retry work that an input does itself.
inline constexpr std::size_t kWorkInline = 256;

}  // namespace sluice
