// What if: an archive's program files replaced by another one, for `sluice program preview`.
#pragma once

#include <cstddef>
#include <string>

#include "core/commands/imports.hpp"
#include "core/protocol/record.hpp"
#include "worker/drain/input_batch.hpp"

namespace sluice::worker {

/// Gives each input of a replay to edit(), in order: the first program apply brings the programs
/// and policies of the file, and no later one changes them. Other programs stay as they were.
class WhatIf {
public:
    explicit WhatIf(ProgramApply file) : file_(std::move(file)) {}

    void edit(OwnedInput& input);
    /// True once the file's programs are in.
    [[nodiscard]] bool began() const noexcept { return began_; }

private:
    [[nodiscard]] ProgramApply changed(const ProgramApply& archived);

    ProgramApply file_;
    bool began_ = false;
    RecordEnvelope envelope_;
};

}  // namespace sluice::worker
