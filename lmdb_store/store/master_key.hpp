// MasterKey: encrypts token secrets at rest (AES-256-GCM, with the token's id as associated data).
//
// Its file holds 64 hexadecimal digits and a newline. Threads: any. Blocking: functions with a path
// wait for the disk.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/values/result.hpp"

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
    /// The same, of an open file. `path` is for the message.
    [[nodiscard]] static Result<MasterKey> load(int fd, const std::filesystem::path& path);
    /// Reads a key from an open descriptor, for a process that may not open the file, such as an
    /// nginx worker. Does not check the mode, which load() did. `path` is for the message.
    [[nodiscard]] static Result<MasterKey> read(int fd, const std::filesystem::path& path);
    [[nodiscard]] static MasterKey random();
    /// Writes a key file atomically, with mode 0400.
    [[nodiscard]] Status save(const std::filesystem::path& path) const;
    /// Overwrites an existing key file durably, so that a process that has it open reads the new
    /// key.
    [[nodiscard]] Status overwrite(const std::filesystem::path& path) const;

    /// Encrypts a secret. Returns nonce | ciphertext | tag.
    [[nodiscard]] std::string seal(std::string_view secret, std::string_view token_id) const;
    /// Decrypts a secret. kCorrupt if another key encrypted it, or its bytes were altered.
    [[nodiscard]] Result<std::string> open(std::string_view sealed,
                                           std::string_view token_id) const;

private:
    std::array<std::uint8_t, 32> key_{};
};

}  // namespace sluice::store
