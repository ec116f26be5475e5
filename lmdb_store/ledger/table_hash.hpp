// Table hash: SHA-256 over the keys and values of a table's rows. Internal to this room.
#pragma once

#include <openssl/evp.h>

#include <memory>
#include <string_view>

#include "core/protocol/signature.hpp"
#include "core/values/assert.hpp"

namespace sluice::store {

class TableHash {
public:
    TableHash() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
        SLUICE_ASSERT(EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) == 1);
    }
    /// Hashes the length before the bytes, so that no two lists of texts give the same bytes.
    void add(std::string_view bytes) {
        const std::uint64_t size = bytes.size();
        SLUICE_ASSERT(EVP_DigestUpdate(context_.get(), &size, sizeof(size)) == 1);
        SLUICE_ASSERT(EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
    }
    [[nodiscard]] Digest256 take() {
        Digest256 digest{};
        SLUICE_ASSERT(EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr) == 1);
        return digest;
    }

private:
    std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

}  // namespace sluice::store
