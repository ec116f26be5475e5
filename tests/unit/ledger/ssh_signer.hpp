// An approver's SSH key in a test: signs what `ssh-keygen -Y sign` would (Ed25519).
#pragma once

#include <openssl/evp.h>
#include <openssl/sha.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>

namespace sluice::test {

class SshSigner {
public:
    SshSigner() {
        std::array<unsigned char, 32> secret{1, 2, 3};
        key_.reset(
            EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, secret.data(), secret.size()));
        std::array<unsigned char, 32> raw{};
        std::size_t size = raw.size();
        EVP_PKEY_get_raw_public_key(key_.get(), raw.data(), &size);
        blob_ = packed(kType) + packed({reinterpret_cast<const char*>(raw.data()), size});
    }
    /// As `approvers` of a policy has it.
    [[nodiscard]] std::string public_key() const {
        return std::string(kType) + " " + base64(blob_);
    }
    [[nodiscard]] std::string sign(std::string_view statement) const {
        constexpr std::string_view kNamespace = "sluice-approval";
        std::string digest(SHA512_DIGEST_LENGTH, '\0');
        SHA512(bytes_of(statement), statement.size(),
               reinterpret_cast<unsigned char*>(digest.data()));
        const std::string about = packed(kNamespace) + packed("") + packed("sha512");
        const std::string signed_bytes = "SSHSIG" + about + packed(digest);
        std::string value(64, '\0');
        std::size_t size = value.size();
        const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                              &EVP_MD_CTX_free);
        EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key_.get());
        EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(value.data()), &size,
                       bytes_of(signed_bytes), signed_bytes.size());
        const std::string version("\0\0\0\1", 4);
        return "-----BEGIN SSH SIGNATURE-----\n" +
               base64("SSHSIG" + version + packed(blob_) + about +
                      packed(packed(kType) + packed(value))) +
               "\n-----END SSH SIGNATURE-----\n";
    }

private:
    static constexpr std::string_view kType = "ssh-ed25519";

    static const unsigned char* bytes_of(std::string_view text) {
        return reinterpret_cast<const unsigned char*>(text.data());
    }
    static std::string packed(std::string_view bytes) {
        return std::string(3, '\0') + static_cast<char>(bytes.size()) + std::string(bytes);
    }
    static std::string base64(std::string_view bytes) {
        std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
        const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                         bytes_of(bytes), static_cast<int>(bytes.size()));
        text.resize(static_cast<std::size_t>(size));
        return text;
    }

    std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key_{nullptr, &EVP_PKEY_free};
    std::string blob_;
};

}  // namespace sluice::test
