// Forget archive: an archive read and edited for a forget (books F2).
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

/// Is an archived input one that came before the command?
[[nodiscard]] bool is_before(const ForgetJob& job, std::string_view queue, SequenceNumber seq,
                             std::string_view record);
/// Goes through the archive's inputs, those that are `wanted`. `alive` is called now and then.
[[nodiscard]] ScanInputs archived_inputs(
    const std::filesystem::path& folder, const store::ArchiveOptions& options,
    std::function<bool(std::string_view queue, SequenceNumber seq, std::string_view record)> wanted,
    std::function<void()> alive);

/// Takes out of the archive what the task has found. Requires: no writer is open.
/// @param ledger  A snapshot, for whose program a row names and the reasons of dead letters.
[[nodiscard]] Status edit_forgotten(const std::filesystem::path& folder,
                                    const store::ArchiveOptions& options, const ForgetJob& job,
                                    LedgerReader& ledger, const std::function<void()>& alive);

}  // namespace sluice::worker
