// SSH signatures: what `ssh-keygen -Y sign` writes (OpenSSH's PROTOCOL.sshsig), and the public keys
// that verify them (controls K5). Ed25519 and ECDSA P-256.
//
// Pure: bytes in, an answer out. A key in an agent or on a token signs as one in a file does.
#pragma once

#include <string>
#include <string_view>

#include "core/values/result.hpp"

namespace sluice {

/// A public key as `ssh-keygen` prints it: `ssh-ed25519 AAAA... comment`.
class SshPublicKey {
public:
    /// Returns kInvalid for another type of key, or text that is cut.
    [[nodiscard]] static Result<SshPublicKey> parse(std::string_view text);

    /// Returns type and key, without the comment.
    [[nodiscard]] const std::string& text() const noexcept { return text_; }
    /// Returns `SHA256:...`, as `ssh-keygen -l` does.
    [[nodiscard]] std::string fingerprint() const;
    /// Returns the key in the encoding that a signature has.
    [[nodiscard]] const std::string& blob() const noexcept { return blob_; }

private:
    SshPublicKey(std::string text, std::string blob)
        : text_(std::move(text)), blob_(std::move(blob)) {}

    std::string text_, blob_;
};

/// Returns the fingerprint of a key's encoding.
[[nodiscard]] std::string ssh_fingerprint(std::string_view blob);

/// Returns the encoding of the key that made the signature, which is not checked. The error says
/// that the signature is cut.
[[nodiscard]] Result<std::string> ssh_signer(std::string_view armored);

/// Checks that `key` has signed `message` for this namespace. Otherwise a sentence says which of
/// them is another one, or that the signature is cut.
/// @param armored  The file: `-----BEGIN SSH SIGNATURE-----` ...
[[nodiscard]] Status verify_ssh_signature(std::string_view armored, std::string_view name_space,
                                          std::string_view message, const SshPublicKey& key);

}  // namespace sluice
