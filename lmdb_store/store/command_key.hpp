// Command key: the file of the keys that seal commands, `<store>/command.key` (controls K5).
//
// Mode 0400, owned by the store's owner: nginx never reads it. Blocking: every function waits for
// the disk, and for a rotation that another process runs.
#pragma once

#include <filesystem>
#include <functional>

#include "core/commands/seal.hpp"
#include "core/values/result.hpp"
#include "os/files/file_io.hpp"

namespace sluice::store {

/// Locks the file until the descriptor closes: LOCK_SH, against rotations and the removal of
/// leftovers, or LOCK_EX; with LOCK_NB, kBusy instead of waiting.
[[nodiscard]] Result<Fd> lock_command_key(const std::filesystem::path& path, int how);

/// The keys, and a lock that keeps the first of them in front: no rotation happens while it lives.
class HeldCommandKeys {
public:
    /// kPermission: group or others may read the file. kCorrupt: it holds no keys.
    [[nodiscard]] static Result<HeldCommandKeys> load(const std::filesystem::path& path);
    [[nodiscard]] const CommandKeys& keys() const noexcept { return keys_; }

private:
    HeldCommandKeys(Fd file, CommandKeys keys) : file_(std::move(file)), keys_(std::move(keys)) {}

    Fd file_;
    CommandKeys keys_;
};

/// Makes the file with one random key.
[[nodiscard]] Status create_command_key(const std::filesystem::path& path, const FileOwner& owner);
/// Puts a new key in front, once no command that the old one seals is on its way. Makes the file if
/// it is missing.
/// @param last_seq  Returns the last sequence number that the old key may seal.
[[nodiscard]] Status rotate_command_key(const std::filesystem::path& path, const FileOwner& owner,
                                        const std::function<Result<SequenceNumber>()>& last_seq);

}  // namespace sluice::store
