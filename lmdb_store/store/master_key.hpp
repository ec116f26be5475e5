// MasterKey: encrypts token secrets at rest (AES-256-GCM, with the token's id as associated data).
//
// Its file holds a line of 64 hexadecimal digits. It holds two such lines while `sluice key rotate`
// runs, and after it was interrupted: the key that was in force when it began, then the next one.
// The registry tells which of them is in force (RegistryTables::key_in_force), so the rotation may
// end at any instant. Threads: any. Blocking: functions with a path wait for the disk.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "core/values/result.hpp"
#include "os/files/file_io.hpp"

namespace sluice::store {

/// Returns kPermission if group or others may read the open key file.
/// @param then  What else the message asks for.
[[nodiscard]] Status check_key_mode(int fd, const std::filesystem::path& path,
                                    std::string_view then = "");

class MasterKey {
public:
    MasterKey() = default;
    explicit MasterKey(const std::array<std::uint8_t, 32>& key) : key_(key) {}
    ~MasterKey();
    MasterKey(const MasterKey&) = default;
    MasterKey& operator=(const MasterKey&) = default;

    /// Reads a key file. kPermission if group or others may read it, kInvalid if it is no regular
    /// file.
    [[nodiscard]] static Result<MasterKey> load(const std::filesystem::path& path);
    /// Reads a key file, and keeps `key rotate` waiting until `held` is closed: between the file
    /// and the registry the key would be replaced. Waits for one that has begun.
    [[nodiscard]] static Result<MasterKey> hold(const std::filesystem::path& path, Fd& held);
    /// Reads a key file that is open, with the same checks. `path` is for the message.
    [[nodiscard]] static Result<MasterKey> load(int fd, const std::filesystem::path& path);
    /// Reads a key from an open descriptor, for a process that may not open the file, such as an
    /// nginx worker. Does not check the mode, which load() did. `path` is for the message.
    [[nodiscard]] static Result<MasterKey> read(int fd, const std::filesystem::path& path);
    [[nodiscard]] static MasterKey random();
    /// Writes a key file atomically, with mode 0400.
    [[nodiscard]] Status save(const std::filesystem::path& path) const;
    /// Overwrites an existing key file durably, so that a process that has it open reads the new
    /// contents: this key, and behind it the one of `next`, if any. A process that is killed, or a
    /// power cut, leaves the old contents or the new ones.
    [[nodiscard]] Status overwrite(const std::filesystem::path& path,
                                   const MasterKey* next = nullptr) const;

    /// Returns the second key of the file, if it holds two.
    [[nodiscard]] std::optional<MasterKey> next() const {
        return next_ ? std::optional(MasterKey(*next_)) : std::nullopt;
    }
    /// Returns the first key alone.
    [[nodiscard]] MasterKey first() const { return MasterKey(key_); }

    // The functions below use the first key.

    /// Encrypts a secret. Returns nonce | ciphertext | tag.
    [[nodiscard]] std::string seal(std::string_view secret, std::string_view token_id) const;
    /// Decrypts a secret. kCorrupt if another key encrypted it, or its bytes were altered.
    [[nodiscard]] Result<std::string> open(std::string_view sealed,
                                           std::string_view token_id) const;

private:
    [[nodiscard]] static Result<MasterKey> open_and_load(const std::filesystem::path& path,
                                                         bool locks, Fd& held);

    std::array<std::uint8_t, 32> key_{};
    std::optional<std::array<std::uint8_t, 32>> next_;
};

}  // namespace sluice::store
