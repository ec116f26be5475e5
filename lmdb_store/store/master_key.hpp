// The master key: encrypts token secrets at rest (AES-256-GCM, the token's id as associated data).
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/values/result.hpp"

namespace sluice::store {

class MasterKey {
public:
    MasterKey() = default;
    explicit MasterKey(const std::array<std::uint8_t, 32>& key) : key_(key) {}
    ~MasterKey();
    MasterKey(const MasterKey&) = default;
    MasterKey& operator=(const MasterKey&) = default;

    /// 64 hex digits and a newline. kPermission if group or others may read it.
    [[nodiscard]] static Result<MasterKey> load(const std::filesystem::path& path);
    /// As load(), from an open descriptor: for a process that may not open the file, such as an
    /// nginx worker. `path` is for the message. The mode is not checked: load() did that.
    [[nodiscard]] static Result<MasterKey> read(int fd, const std::filesystem::path& path);
    [[nodiscard]] static MasterKey random();
    /// Atomically, mode 0400.
    [[nodiscard]] Status save(const std::filesystem::path& path) const;
    /// Into the file that is there, durably: a process that has it open reads the new key.
    [[nodiscard]] Status overwrite(const std::filesystem::path& path) const;

    /// nonce | ciphertext | tag
    [[nodiscard]] std::string seal(std::string_view secret, std::string_view token_id) const;
    /// kCorrupt: another key, or altered bytes.
    [[nodiscard]] Result<std::string> open(std::string_view sealed,
                                           std::string_view token_id) const;

private:
    std::array<std::uint8_t, 32> key_{};
};

}  // namespace sluice::store
