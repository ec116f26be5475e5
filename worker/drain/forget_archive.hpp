// Forget archive: an archive read and edited for a forget (rule F2).
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

#include "core/forget/search.hpp"
#include "core/forget/task.hpp"
#include "core/ledger/ledger.hpp"
#include "core/values/result.hpp"
#include "lmdb_store/archive/archive.hpp"

namespace sluice::worker {

/// Returns true if the archived input came before the command.
[[nodiscard]] bool is_before(const ForgetJob& job, std::string_view queue, SequenceNumber seq,
                             std::string_view record);
/// Visits the archive's inputs that are `wanted`. Calls `alive` regularly.
[[nodiscard]] ScanInputs archived_inputs(
    const std::filesystem::path& folder, const store::ArchiveOptions& options,
    std::function<bool(std::string_view queue, SequenceNumber seq, std::string_view record)> wanted,
    std::function<void()> alive);

/// Removes from the archive what the task has found. Requires: no writer is open.
/// @param ledger  A snapshot, for the owners of programs and the reasons of dead letters.
[[nodiscard]] Status edit_forgotten(const std::filesystem::path& folder,
                                    const store::ArchiveOptions& options, const ForgetJob& job,
                                    LedgerReader& ledger, const std::function<void()>& alive);

}  // namespace sluice::worker
