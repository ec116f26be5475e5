// Copies of an archive: its segments and batch orders, without the inputs that came after a
// snapshot of the queue. Internal to lmdb_store.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "lmdb_store/queue/queue.hpp"

namespace sluice::store {

/// The queue's figures in one snapshot.
struct QueueState {
    std::string uuid;
    QueueFill fill;
};

/// Returns the number of the first input in the queue, or of the next one if it is empty.
[[nodiscard]] std::uint64_t first_in(const QueueFill& queue) noexcept;

/// Copies the segments first and the batch orders then, which so cover each input of the copy.
/// @param from, to  Folders of archives.
/// Throws StoreFailure.
/// @param fault     Set to the fault of the newest segment, if it has one, else to no text.
void copy_archive(const std::filesystem::path& from, const std::filesystem::path& to,
                  const QueueState& queue, std::string& fault);

}  // namespace sluice::store
